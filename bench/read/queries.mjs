// @ts-check
/** @typedef {(player: string, rank: number, score: number) => Promise<unknown>} Query of one random player, rank and score */
/** @typedef {Record<string, Query>} Queries */

const SOME = 100;
/** Ids of `SOME` players, other ones for another rank; not those at the rank. @param {number} rank */
const group = (rank) =>
  Array.from({ length: SOME }, (_, index) => `player-${(rank + 7 * index) % 1_000}`);

/** @param {import('#board-store').BoardReader} reader @returns {Queries} */
export function readerQueries(reader) {
  return {
    'top 100': () => reader.standings('bench'),
    'page of 100 from a rank': (_, rank) => reader.standings('bench', { from: rank }),
    'rank of a player': (player) => reader.player('bench', player),
    'around a player': (player) => reader.around('bench', player),
    '100 players by id': (_, rank) => reader.players('bench', group(rank)),
    'rank of a score': (_, __, score) => reader.rankOf('bench', score),
    'score at a rank': (_, rank) => reader.at('bench', { rank }),
    '100 players from a score on': (_, __, score) =>
      reader.standings('bench', { scores: { max: score } }),
    'count of a score range': (_, __, score) => reader.count('bench', { scores: { min: score } }),
    'histogram of 20 buckets': () => reader.histogram('bench'),
    'a step of a search': (player) => reader.search('bench', player),
  };
}

/** The commands that answer the same with less: no columns, percentile, neighbours, or check of the generation.
 * @param {import('ioredis').Redis} redis @param {string} key @returns {Queries}
 */
export function bareQueries(redis, key) {
  return {
    'top 100': () => redis.zrevrange(key, 0, SOME - 1, 'WITHSCORES'),
    'page of 100 from a rank': (_, rank) =>
      redis.zrevrange(key, rank - 1, rank + SOME - 2, 'WITHSCORES'),
    'rank of a player': (player) => redis.zrevrank(key, player),
    'around a player': async (player) => {
      const rank = (await redis.zrevrank(key, player)) ?? 0;
      return redis.zrevrange(key, Math.max(0, rank - 5), rank + 5, 'WITHSCORES');
    },
    '100 players by id': (_, rank) => {
      const pipeline = redis.pipeline();
      for (const id of group(rank)) pipeline.zrevrank(key, id);
      return pipeline.exec();
    },
    'rank of a score': (_, __, score) => redis.zcount(key, `(${score}`, '+inf'),
    'score at a rank': (_, rank) => redis.zrevrange(key, rank - 1, rank - 1, 'WITHSCORES'),
    '100 players from a score on': (_, __, score) =>
      redis.zrevrangebyscore(key, score, '-inf', 'WITHSCORES', 'LIMIT', 0, SOME),
    'count of a score range': (_, __, score) => redis.zcount(key, score, '+inf'),
    'histogram of 20 buckets': () => {
      const pipeline = redis.pipeline();
      for (let bucket = 0; bucket < 20; bucket++)
        pipeline.zcount(key, bucket * 50_000, (bucket + 1) * 50_000 - 1);
      return pipeline.exec();
    },
    'a step of a search': (player) => redis.zscan(key, 0, 'MATCH', `*${player}*`, 'COUNT', 1_000),
  };
}

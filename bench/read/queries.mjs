// @ts-check
import { MOST_POINTS } from './filled-board.mjs';

/**
 * Random arguments for a query.
 * @typedef {object} Input
 * @property {string} player
 * @property {number} rank
 * @property {number} score
 * @property {string[]} group ids of 100 players
 */
/** @typedef {(input: Input) => Promise<unknown>} Query */
/** @typedef {Record<string, Query>} Queries */

/** The size of a page, and of a group. */
const PAGE = 100;
const BUCKETS = 20;
const BUCKET = MOST_POINTS / BUCKETS;

/** @param {number} players @returns {Input} */
export function randomInput(players) {
  const group = Array.from({ length: PAGE }, () => randomPlayer(players));
  const player = randomPlayer(players);
  const rank = randomUpTo(players);
  const score = randomUpTo(MOST_POINTS);
  return { player, rank, score, group };
}

/** @param {number} players */
function randomPlayer(players) {
  return `player-${randomUpTo(players) - 1}`;
}

/** A whole number from 1 on. @param {number} most */
function randomUpTo(most) {
  return 1 + Math.floor(Math.random() * most);
}

/** @param {import('#board-store').BoardReader} reader @returns {Queries} */
export function readerQueries(reader) {
  return {
    'top 100': () => reader.standings('bench'),
    'page of 100 from a rank': ({ rank }) => reader.standings('bench', { from: rank }),
    'rank of a player': ({ player }) => reader.player('bench', player),
    'around a player': ({ player }) => reader.around('bench', player),
    '100 players by id': ({ group }) => reader.players('bench', group),
    'rank of a score': ({ score }) => reader.rankOf('bench', score),
    'score at a rank': ({ rank }) => reader.at('bench', { rank }),
    '100 players from a score on': ({ score }) =>
      reader.standings('bench', { scores: { max: score } }),
    'count of a score range': ({ score }) => reader.count('bench', { scores: { min: score } }),
    'histogram of 20 buckets': () => reader.histogram('bench'),
    'a step of a search': ({ player }) => reader.search('bench', player),
  };
}

/**
 * The bare Redis commands for the same questions. Their answers lack columns, percentile and
 * neighbours, and they do not check the generation.
 * @param {import('ioredis').Redis} redis @param {string} key @returns {Queries}
 */
export function bareQueries(redis, key) {
  return {
    'top 100': () => redis.zrevrange(key, 0, PAGE - 1, 'WITHSCORES'),
    'page of 100 from a rank': ({ rank }) =>
      redis.zrevrange(key, rank - 1, rank + PAGE - 2, 'WITHSCORES'),
    'rank of a player': ({ player }) => redis.zrevrank(key, player),
    'around a player': async ({ player }) => {
      const rank = (await redis.zrevrank(key, player)) ?? 0;
      return redis.zrevrange(key, Math.max(0, rank - 5), rank + 5, 'WITHSCORES');
    },
    '100 players by id': ({ group }) => {
      const pipeline = redis.pipeline();
      for (const id of group) pipeline.zrevrank(key, id);
      return pipeline.exec();
    },
    'rank of a score': ({ score }) => redis.zcount(key, `(${score}`, '+inf'),
    'score at a rank': ({ rank }) => redis.zrevrange(key, rank - 1, rank - 1, 'WITHSCORES'),
    '100 players from a score on': ({ score }) =>
      redis.zrevrangebyscore(key, score, '-inf', 'WITHSCORES', 'LIMIT', 0, PAGE),
    'count of a score range': ({ score }) => redis.zcount(key, score, '+inf'),
    'histogram of 20 buckets': () => {
      const pipeline = redis.pipeline();
      for (let from = 0; from < MOST_POINTS; from += BUCKET)
        pipeline.zcount(key, `(${from}`, from + BUCKET);
      return pipeline.exec();
    },
    'a step of a search': ({ player }) =>
      redis.zscan(key, 0, 'MATCH', `*${player}*`, 'COUNT', 1_000),
  };
}

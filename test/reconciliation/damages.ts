import type { Ground } from './ground.js';
import { below, pick, type Random } from '../faults/load.js';

/** One thing done to a board in Redis by hand; answers what was done, in words. */
export type Damage = (ground: Ground, board: string, random: Random) => Promise<string>;

/** A view of the board, and one of its players. */
async function target(ground: Ground, board: string, random: Random) {
  const { keys, redis, store } = ground;
  const shard = store.shardOf(board);
  const { generation } = await ground.live(board);
  const views = keys.views(shard, generation);
  const view = pick(random, (await redis.hkeys(views)).sort());
  const ranking = keys.ranking(shard, generation, view);
  const players = keys.players(shard, generation, view);
  const player = pick(random, (await redis.hkeys(players)).sort());
  const place = below(random, await redis.zcard(ranking));
  const [member = Buffer.alloc(0)] = await redis.zrangeBuffer(ranking, place, place);
  const state = (await redis.hget(players, player)) ?? '';
  return { redis, shard, view, views, ranking, players, player, member, state };
}

/** By the command that does it. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'ZADD of another score': async (ground, board, random) => {
    const { redis, ranking, member, view } = await target(ground, board, random);
    await redis.zadd(ranking, 'XX', String(1e6 + below(random, 1e6)), member);
    return `a score in ${view}`;
  },
  'ZADD of a member': async (ground, board, random) => {
    const { redis, ranking, member, view } = await target(ground, board, random);
    await redis.zadd(ranking, '5', Buffer.concat([member, Buffer.from('x')]));
    return `a member in ${view}`;
  },
  'ZADD of another time of an event id': async (ground, board, random) => {
    const { keys, redis, store } = ground;
    const { generation } = await ground.live(board);
    const ids = keys.eventIds(store.shardOf(board), generation, below(random, 12));
    const [id = '', time] = await redis.zrevrange(ids, 0, 0, 'WITHSCORES');
    await redis.zadd(ids, 'XX', Number(time) - 1, id);
    return `${id} in ${ids}`;
  },
  ZREM: async (ground, board, random) => {
    const { redis, ranking, member, view } = await target(ground, board, random);
    await redis.zrem(ranking, member);
    return `a member of ${view}`;
  },
  'DEL of a ranking': async (ground, board, random) => {
    const { redis, ranking } = await target(ground, board, random);
    await redis.del(ranking);
    return ranking;
  },
  'DEL of the players of a view': async (ground, board, random) => {
    const { redis, players } = await target(ground, board, random);
    await redis.del(players);
    return players;
  },
  'HSET of another state': async (ground, board, random) => {
    const { redis, players, player, state, view } = await target(ground, board, random);
    await redis.hset(players, player, `9${state}`);
    return `${player} in ${view}: 9${state}`;
  },
  'HSET of a state that is none': async (ground, board, random) => {
    const { redis, players, player, view } = await target(ground, board, random);
    await redis.hset(players, player, 'x');
    return `${player} in ${view}`;
  },
  'HSET of a player': async (ground, board, random) => {
    const { redis, players, state, view } = await target(ground, board, random);
    await redis.hset(players, 'nobody', state);
    return `nobody in ${view}: ${state}`;
  },
  HDEL: async (ground, board, random) => {
    const { redis, players, player, view } = await target(ground, board, random);
    await redis.hdel(players, player);
    return `${player} of ${view}`;
  },
  'HDEL of a view': async (ground, board, random) => {
    const { redis, views, view } = await target(ground, board, random);
    await redis.hdel(views, view);
    return view;
  },
  'HSET of a view': async (ground, board, random) => {
    const { redis, views } = await target(ground, board, random);
    await redis.hset(views, 'all region=nowhere', '1');
    return 'all region=nowhere';
  },
};

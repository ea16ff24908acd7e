// @ts-check
import { randomUUID } from 'node:crypto';
import { resolveEvent } from '#board';
import { BoardStore, ContinuityStore, KeySpace } from '#board-store';

/**
 * @typedef {{ player: string, delta: number, time: number }} Score
 * @typedef {{ apply(scores: readonly Score[], options?: { muted?: boolean }): Promise<unknown>,
 * prefix: string }} Contender applies scores to keys with `prefix`
 */

/**
 * As short as a prefix in production: Redis reuses the objects of short arguments of a script's
 * commands.
 */
const newPrefix = () => `bench${randomUUID().slice(0, 4)}`;

/**
 * Pipelined ZINCRBY, one for each view: a counter without guarantees. With `ranks`, ZREVRANK before
 * and after, too.
 * @param {import('ioredis').Redis} redis @param {{ views: number, ranks?: boolean, prefix?: string
 * }} options
 * @returns {Contender}
 */
export function counter(redis, { views, ranks = false, prefix = newPrefix() }) {
  const keys = Array.from({ length: views }, (_, view) => `${prefix}:${view}`);
  return {
    prefix,
    apply(scores) {
      const pipeline = redis.pipeline();
      for (const { player, delta } of scores)
        for (const key of keys) {
          if (ranks) pipeline.zrevrank(key, player);
          pipeline.zincrby(key, delta, player);
          if (ranks) pipeline.zrevrank(key, player);
        }
      return pipeline.exec();
    },
  };
}

/**
 * An exact order, in one script per call: in each view, a hash of states, and a ranking whose
 * members begin with the time. The client computes all else: for each entry player, state, value,
 * last member and new member.
 */
const COMMANDS = `
local call, ranked, ranks = redis.call, ARGV[1] == 'true', {}
for key = 1, #KEYS, 2 do
  local ranking, players, states, removed, added = KEYS[key], {}, {}, {}, {}
  for at = 2, #ARGV, 5 do
    local player, state, value, last, member = unpack(ARGV, at, at + 4)
    players[#players + 1], states[#states + 1], states[#states + 2] = player, player, state
    if ranked then
      ranks[#ranks + 1] = call('ZRANK', ranking, last) or -1
      call('ZREM', ranking, last)
      call('ZADD', ranking, value, member)
      ranks[#ranks + 1] = call('ZRANK', ranking, member)
    else
      removed[#removed + 1], added[#added + 1], added[#added + 2] = last, value, member
    end
  end
  call('HMGET', KEYS[key + 1], unpack(players))
  call('HSET', KEYS[key + 1], unpack(states))
  if not ranked then
    call('ZREM', ranking, unpack(removed))
    call('ZADD', ranking, unpack(added))
  end
end
return ranks`;

/**
 * The commands that ranklog's order needs in sorted sets: an entry for each score, with ranks
 * before and after, or without ranks one for each player. Its keys are as long as those of ranklog.
 * @param {import('ioredis').Redis} redis @param {{ views: number, ranked: boolean }} options
 * @returns {Contender}
 */
export function commands(redis, { views, ranked }) {
  const prefix = newPrefix();
  const name = `${prefix}:4:{${prefix}:0}:${'-'.repeat(45)}`;
  const keys = Array.from({ length: 2 * views }, (_, key) => `${name}${key}`);
  /** @type {Map<string, { sum: number, member: string }>} */
  const players = new Map();
  return {
    prefix,
    apply(scores) {
      /** @type {Map<string | number, string[]>} */
      const entries = new Map();
      for (const { player, delta, time } of scores) {
        const { sum: old, member: last } = players.get(player) ?? { sum: 0, member: '' };
        const [sum, member] = [old + delta, `${time.toString(36)}${player}`];
        players.set(player, { sum, member });
        const key = ranked ? entries.size : player;
        const removed = entries.get(key)?.[3] ?? last; // the one before the call
        entries.set(key, [
          player,
          `${String(sum).padStart(8)},${time}`,
          String(-sum),
          removed,
          member,
        ]);
      }
      const words = [...entries.values()].flat();
      return redis.eval(COMMANDS, keys.length, ...keys, String(ranked), ...words);
    },
  };
}

/**
 * Resolves and applies scores with BoardStore: arguments, script, verdicts. Each call names earlier
 * results as published; a `muted` one also its own, so that it computes no ranks.
 * @param {import('ioredis').Redis} redis @param {import('#board').BoardDefinition} definition
 * @returns {Promise<Contender>}
 */
export async function ranklog(redis, definition) {
  const prefix = newPrefix();
  const keys = new KeySpace(prefix);
  const store = new BoardStore(redis, keys, { shards: 1 });
  const resync = new ContinuityStore(redis, keys, { shards: 1 });
  await store.claim();
  const { live: boards, versions } = await store.registerBoards([definition]);
  const begun = await resync.beginResync(0, await resync.continuity(0));
  const continuity = (begun && (await resync.endResync(0, begun, new Map())))?.token ?? '';
  let next = 0;
  return {
    prefix,
    apply(scores, { muted = false } = {}) {
      const first = next;
      const entries = scores.map((score) => toEntry(definition, score, next++));
      const published = muted ? next : first;
      const run = { believed: first - 1, published, from: first, through: next - 1 };
      const version = versions[0] ?? '';
      return store.apply({
        ...{ shard: 0, partition: 0, version, boards, continuity, entries },
        ...run,
      });
    },
  };
}

/**
 * @param {import('#board').BoardDefinition} definition @param {Score} score
 * @param {number} offset @returns {import('#board-store').EventEntry}
 */
export function toEntry(definition, { player, delta, time }, offset) {
  const deltas = Object.fromEntries(
    definition.columns.map(({ name }, index) => [
      name,
      String(index === 0 ? delta : (delta + index * time) % 1_009),
    ]),
  );
  const attributes = Object.fromEntries(definition.dimensions.flat().map((name) => [name, 'x']));
  const input = { playerId: player, deltas, occurredAt: time, attributes };
  const resolved = resolveEvent(definition, input, time);
  if (!resolved.ok) throw new Error(resolved.detail);
  return { kind: 'event', offset, board: definition.board, event: resolved.event };
}

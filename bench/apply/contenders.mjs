// @ts-check
import { randomUUID } from 'node:crypto';
import { resolveEvent } from '#board';
import { BoardStore, ContinuityStore, KeySpace } from '#board-store';

/**
 * @typedef {{ player: string, delta: number, time: number }} Score
 * @typedef {{ apply(scores: readonly Score[], options?: { muted?: boolean }): Promise<unknown>, prefix: string }} Contender applies
 * scores to keys with `prefix`
 */

/** As short as a prefix in production: Redis reuses the objects of short arguments of a script's commands. */
const newPrefix = () => `bench${randomUUID().slice(0, 4)}`;

/**
 * Pipelined ZINCRBY, one for each view: a counter without guarantees. With `ranks`, ZREVRANK before and after, too.
 * @param {import('ioredis').Redis} redis @param {{ views: number, ranks?: boolean, prefix?: string }} options
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
 * What an exact order needs in each view, in one script per call: a hash of states, and a ranking whose members begin with the
 * time. The arguments have what else a script would compute: for each score player, state, value, last member, new member.
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
 * The bare commands of ranklog's order, `ranked` with those of ranks before and after: less is not possible with sorted sets, whatever the
 * script checks, merges and publishes besides. Its keys are as long as those of ranklog.
 * @param {import('ioredis').Redis} redis @param {{ views: number, ranked: boolean }} options @returns {Contender}
 */
export function commands(redis, { views, ranked }) {
  const prefix = newPrefix();
  const keys = Array.from(
    { length: 2 * views },
    (_, key) => `${prefix}:3:{0}:${'-'.repeat(45)}${key}`,
  );
  /** @type {Map<string, { sum: number, member: string }>} */
  const players = new Map();
  return {
    prefix,
    apply(scores) {
      const words = scores.flatMap(({ player, delta, time }) => {
        const last = players.get(player) ?? { sum: 0, member: '' };
        const [sum, member] = [last.sum + delta, `${time.toString(36)}${player}`];
        players.set(player, { sum, member });
        return [player, `${String(sum).padStart(8)},${time}`, String(-sum), last.member, member];
      });
      return redis.eval(COMMANDS, keys.length, ...keys, String(ranked), ...words);
    },
  };
}

/**
 * Resolves and applies scores with BoardStore: arguments, script, verdicts. Each call names earlier results as published;
 * a `muted` one also its own, so that it computes no ranks.
 * @param {import('ioredis').Redis} redis @param {import('#board').BoardDefinition} definition @returns {Promise<Contender>}
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
 * @param {number} offset @returns {import('#board-store').ApplyEntry}
 */
function toEntry(definition, { player, delta, time }, offset) {
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

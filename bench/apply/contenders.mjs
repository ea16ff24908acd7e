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

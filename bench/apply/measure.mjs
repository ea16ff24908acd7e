// @ts-check
import { randomUUID } from 'node:crypto';
import { resolveEvent } from '#board';
import { BoardStore, KeySpace } from '#board-store';

const BATCH = 500;
const T0 = Date.parse('2026-01-01T00:00:00Z');

/**
 * @typedef {{ players: number, events: number }} Size
 * @typedef {{ rate: number, bytes: number }} Figures events a second, and bytes a player in all views
 */

/**
 * Pipelined ZINCRBY, one for each view: what a counter without any promise does.
 * @param {import('ioredis').Redis} redis @param {Size & { views: number }} options @returns {Promise<Figures>}
 */
export async function measureCounter(redis, { players, events, views }) {
  const prefix = `bench-${randomUUID()}`;
  const keys = Array.from({ length: views }, (_, view) => `${prefix}:${view}`);
  const rate = await timed({ players, events }, (scores) => {
    const pipeline = redis.pipeline();
    for (const { player, delta } of scores)
      for (const key of keys) pipeline.zincrby(key, delta, player);
    return pipeline.exec();
  });
  return { rate, bytes: (await takeAway(redis, prefix)) / players };
}

/**
 * Resolved events through BoardStore.apply: arguments, script, verdicts.
 * @param {import('ioredis').Redis} redis
 * @param {Size & { definition: import('#board').BoardDefinition }} options @returns {Promise<Figures>}
 */
export async function measureRanklog(redis, { players, events, definition }) {
  const prefix = `bench-${randomUUID()}`;
  const store = new BoardStore(redis, new KeySpace(prefix), { shards: 1 });
  await store.claimShards();
  const live = await store.registerBoard(definition);
  const boards = new Map([[live.board, live]]);
  let offset = 0;
  const rate = await timed({ players, events }, (scores) => {
    const first = offset;
    const entries = scores.map((score) => toEntry(definition, score, offset++));
    return store.apply({
      shard: 0,
      partition: 0,
      believed: first - 1,
      published: first,
      through: offset - 1,
      entries,
      boards,
    });
  });
  return { rate, bytes: (await takeAway(redis, prefix)) / players };
}

/**
 * Every player scores once, uncounted; then random ones do, timed. Resolving is part of what is timed.
 * @param {Size} size @param {(scores: { player: string, delta: number, time: number }[]) => Promise<unknown>} apply
 */
async function timed({ players, events }, apply) {
  for (let from = 0; from < players; from += BATCH)
    await apply(batch(from, Math.min(BATCH, players - from), (index) => from + index));
  const begin = performance.now();
  for (let from = 0; from < events; from += BATCH)
    await apply(batch(players + from, BATCH, () => Math.floor(Math.random() * players)));
  return events / ((performance.now() - begin) / 1_000);
}

/** @param {number} from @param {number} size @param {(index: number) => number} player */
function batch(from, size, player) {
  return Array.from({ length: size }, (_, index) => ({
    player: `player-${player(index)}`,
    delta: 1 + Math.floor(Math.random() * 1_000),
    time: T0 + from + index,
  }));
}

/**
 * @param {import('#board').BoardDefinition} definition @param {{ player: string, delta: number, time: number }} score
 * @param {number} offset @returns {import('#board-store').ApplyEntry}
 */
function toEntry(definition, { player, delta, time }, offset) {
  const deltas = Object.fromEntries(definition.columns.map(({ name }) => [name, String(delta)]));
  const attributes = Object.fromEntries(definition.dimensions.flat().map((name) => [name, 'x']));
  const input = { playerId: player, deltas, occurredAt: time, attributes };
  const resolved = resolveEvent(definition, input, time);
  if (!resolved.ok) throw new Error(resolved.rejection.detail);
  return { kind: 'event', offset, board: definition.board, event: resolved.event };
}

/** Bytes of all keys but the outbox, which is empty once results are published; the keys are gone then. @param {import('ioredis').Redis} redis @param {string} prefix */
async function takeAway(redis, prefix) {
  let bytes = 0;
  for (const key of await redis.keys(`${prefix}*`)) {
    if (!key.includes(':outbox:')) bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    await redis.unlink(key);
  }
  return bytes;
}

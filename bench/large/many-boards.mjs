// @ts-check
// Many boards of some players: register, fill, read, build one of them again, list, start again,
// resync, and the loss of a promotion.
import { randomUUID } from 'node:crypto';
import { parseBoardsFile } from '#board';
import {
  BoardReader,
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  KeySpace,
  StoreStatus,
} from '#board-store';
import { toEntry } from '../apply/contenders.mjs';
import { BOARDS } from '../read/filled-board.mjs';
import { Builder, buildAndVerify, stretchesOf } from './builder.mjs';
import { usedMemory } from './calls.mjs';

/** @typedef {import('./calls.mjs').Calls} Calls */
/** @typedef {import('#board').BoardDefinition} BoardDefinition */

const BATCH = 500;
const READ = 10_000;
const FAR = 9_000_000_000_000_000; // us: later than any promotion

/**
 * The event at an offset.
 * @param {BoardDefinition} board @param {number} at @param {number} each
 */
function entryAt(board, at, each) {
  return toEntry(board, { player: `player-${at % each}`, delta: at % 1_000, time: at }, at);
}

/**
 * What a build of the first board reads.
 * @param {BoardDefinition} board @param {{ count: number, each: number }} size
 */
function sourceOf(board, { count, each }) {
  const definition = { ...board, board: 'board-0' };
  const stretches = () => stretchesOf((at) => entryAt(definition, at, each), each, count * each);
  return { definition, stretches };
}

/**
 * @param {import('ioredis').Redis} redis @param {Calls} calls @param {{ boards: number, each:
 * number }} size
 */
export async function manyBoards(redis, calls, { boards: count, each }) {
  const [one] = parseBoardsFile(BOARDS, 'bench');
  if (one === undefined) throw new Error('the bench has no board');
  const definitions = Array.from({ length: count }, (_, i) => ({ ...one, board: `board-${i}` }));
  const prefix = `b${randomUUID().slice(0, 4)}`;
  const keys = new KeySpace(prefix);
  const store = new BoardStore(redis, keys, { shards: 1 });
  const continuity = new ContinuityStore(redis, keys, { shards: 1 });
  const catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  const before = await usedMemory(redis);
  await store.claim();
  await calls.step(`${count} boards: register`, () => store.registerBoards(definitions));
  const empty = await usedMemory(redis);
  /** @param {number} since when Kafka promoted each board */
  const resync = async (since) => {
    const current = new Map(definitions.map((one) => [one.board, { since, definition: one }]));
    const begun = await continuity.beginResync(0, await continuity.continuity(0));
    const recovered = begun && (await continuity.endResync(0, begun, new Map(), current));
    if (begun !== undefined) await continuity.release(begun);
    if (recovered === undefined) throw new Error('the resync was refused');
    return recovered;
  };
  const { token } = await calls.step('resync', () => resync(1));
  await calls.step(`fill with ${each} players each`, async () => {
    const { live, versions } = await store.boards();
    const events = count * each;
    for (let from = 0; from < events; from += BATCH) {
      const length = Math.min(BATCH, events - from);
      const entries = Array.from({ length }, (_, index) => {
        const at = from + index;
        return entryAt(definitions[Math.floor(at / each)] ?? one, at, each);
      });
      const run = {
        believed: from - 1,
        published: from + length,
        from,
        through: from + length - 1,
      };
      const version = versions[0] ?? '';
      const call = { shard: 0, partition: 0, version, boards: live, continuity: token };
      const { status } = await store.apply({ ...call, ...run, entries });
      if (status !== 'applied') throw new Error(`the call was refused: ${status}`);
    }
  });
  const full = await usedMemory(redis);
  const reader = new BoardReader({ redis, prefix });
  await calls.step(`read: a page of ${Math.min(count, READ)} boards`, async () => {
    for (const { board } of definitions.slice(0, READ)) await reader.standings(board);
  });
  await buildAndVerify(calls, new Builder(redis, prefix, sourceOf(one, { count, each })));
  await calls.step('list: live boards', () => new StoreStatus(redis, keys).live());
  await calls.step('list: boards with counters', () => new StoreStatus(redis, keys).overviews());
  await calls.step('list: generations', () => catalog.generations());
  await calls.step('start: register again', async () => {
    const again = new BoardStore(redis, keys, { shards: 1 });
    await again.claim();
    await again.registerBoards(definitions);
    await again.promotions();
  });
  await calls.step('resync of the filled shard', () => resync(1));
  await calls.step('resync after a lost promotion', () => resync(FAR));
  await calls.step('sweep of the emptied shard', async () => {
    while ((await catalog.sweep()) > 0);
  });
  return {
    boards: count,
    each,
    bytesPerBoard: (empty - before) / count,
    bytesPerPlayer: (full - empty) / (count * each),
  };
}

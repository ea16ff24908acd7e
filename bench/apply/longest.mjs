// @ts-check
// How long one call of the apply script keeps Redis busy, on the boards that cost most: `npm run
// bench:apply -- --longest [--players N]`.
import { randomUUID } from 'node:crypto';
import { parseBoardsFile, resolveEvent } from '#board';
import { BoardStore, ContinuityStore, KeySpace } from '#board-store';
import { redisCpu } from './measure.mjs';

/** @type {typeof import('../../src/ingest/split-calls.js')} */
const { splitRuns } = await import(
  new URL('../../dist/src/ingest/split-calls.js', import.meta.url).href
);

const T0 = Date.parse('2026-11-20T09:00:00Z');
const BATCH = 500;
const ROUNDS = 8;

const RANKS = 'ranks: [ordinal, competition]';
const NAMES = `publish: { ${RANKS}, overtook: 100, leaders: 100 }`;
const VIEWS = 'dimensions: [[x]], maxViews: 1000000';
/** All players are equal in all columns. `share`: which part of `players` the board has. */
const CASES = [
  { name: '1 column', columns: 1 },
  { name: '2 columns', columns: 2 },
  { name: '8 columns', columns: 8, share: 0.25 },
  { name: '2 columns, overtook and leaders 100', columns: 2, rest: NAMES, share: 0.25 },
  {
    name: '8 columns, leaders 100, a view for each event',
    columns: 8,
    rest: `${NAMES}, ${VIEWS}`,
    share: 0.25,
  },
];

/**
 * Measures each board and prints it in comparison with the first board.
 * @param {import('ioredis').Redis} redis @param {number} players
 */
export async function longestCalls(redis, players) {
  const [, threshold] = /** @type {string[]} */ (
    await redis.config('GET', 'slowlog-log-slower-than')
  );
  await redis.config('SET', 'slowlog-log-slower-than', '0');
  const rows = [];
  for (const { name, columns, rest = `publish: { ${RANKS} }`, share = 1 } of CASES) {
    const text =
      `boards: { bench: { ${rest}, windows: [all, day, week, month], columns: ` +
      `[${columnsOf(columns)}] } }`;
    const row = { name, ...(await measure(redis, text, Math.round(players * share))) };
    rows.push(row);
    print(row, rows[0] ?? row);
  }
  await redis.config('SET', 'slowlog-log-slower-than', threshold ?? '10000');
  return rows;
}

/**
 * @typedef {{ script: number, cpu: number }} Call in ms: `script` until its end, with waits for a
 * CPU; `cpu` of Redis
 */
/** @typedef {{ longest: Call, median: Call, calls: number }} Figures */

/**
 * @param {{ name: string, published: Figures, muted: Figures }} row @param {{ published: Figures }}
 * plain
 */
function print({ name, published, muted }, plain) {
  const ms = (/** @type {Figures} */ { longest, median }) =>
    `${longest.script.toFixed(1)} ms, CPU ${longest.cpu.toFixed(1)} (median ` +
    `${median.cpu.toFixed(1)})`;
  const ratio = (published.longest.cpu / plain.published.longest.cpu).toFixed(2);
  console.log(
    `${name}\n  longest call ${ms(published)}; CPU ${ratio} times that of the first board\n  ` +
      `muted ${ms(muted)}`,
  );
}

/** @param {number} count */
function columnsOf(count) {
  return Array.from({ length: count }, (_, index) => `{ name: c${index} }`).join();
}

/** @param {import('ioredis').Redis} redis @param {string} text @param {number} players */
async function measure(redis, text, players) {
  const prefix = `bench${randomUUID().slice(0, 4)}`;
  const [keys, options] = [new KeySpace(prefix), { shards: 1 }];
  const store = new BoardStore(redis, keys, options);
  await store.claim();
  const registered = await store.registerBoards(parseBoardsFile(text, 'bench'));
  const { live: boards, versions } = registered;
  const version = versions[0] ?? '';
  const continuity = await compared(new ContinuityStore(redis, keys, options));
  let [next, believed] = [0, -1];
  /** @param {(index: number) => number} player @param {string} points @param {boolean} isMuted */
  const apply = async (player, points, isMuted) => {
    const items = Array.from({ length: BATCH }, (_, index) => ({
      entry: toEntry(boards, next++, player(index), points),
    }));
    const times = [];
    const published = isMuted ? next : (items[0]?.entry.offset ?? 0);
    const batch = { from: next - BATCH, published, nextOffset: next, boards };
    for (const { from, through, items: some } of splitRuns(items, batch)) {
      const entries = some.map(({ entry }) => entry);
      const call = { shard: 0, partition: 0, believed, published, from, through, entries };
      const cpu = await redisCpu(redis);
      await store.apply({ ...call, version, boards, continuity });
      believed = through;
      times.push({ cpu: ((await redisCpu(redis)) - cpu) / 1_000, script: await lastScript(redis) });
    }
    return times;
  };
  const published = /** @type {Call[]} */ ([]);
  const muted = /** @type {Call[]} */ ([]);
  for (let from = 0; from < players; from += BATCH)
    muted.push(...(await apply((index) => from + index, '1', true)));
  const random = () => Math.floor(Math.random() * players);
  for (let round = 0; round < ROUNDS; round++)
    published.push(...(await apply(random, round % 2 ? '-1' : '1', false)));
  for (const name of await redis.keys(`${prefix}*`)) await redis.unlink(name);
  return { published: figures(published), muted: figures(muted) };
}

/** @param {ContinuityStore} continuity */
async function compared(continuity) {
  const begun = await continuity.beginResync(0, await continuity.continuity(0));
  return (begun && (await continuity.endResync(0, begun, new Map())))?.token ?? '';
}

/**
 * Makes an event that gives the player `points` in every column.
 * @param {ReadonlyMap<string, import('#board-store').LiveBoard>} boards @param {number} offset
 * @param {number} player @param {string} points @returns {import('#board-store').EventEntry}
 */
function toEntry(boards, offset, player, points) {
  const definition = boards.get('bench')?.definition;
  if (definition === undefined) throw new Error('the bench has no board');
  const deltas = Object.fromEntries(definition.columns.map(({ name }) => [name, points]));
  const attributes = { x: `v${offset}` };
  const input = { playerId: `player-${player}`, deltas, occurredAt: T0 + offset, attributes };
  const resolved = resolveEvent(definition, input, T0 + offset);
  if (!resolved.ok) throw new Error(resolved.detail);
  return { kind: 'event', offset, board: 'bench', event: resolved.event };
}

/** How long the last script took, in ms. @param {import('ioredis').Redis} redis */
async function lastScript(redis) {
  const found = /** @type {[number, number, number, string[]][]} */ (await redis.slowlog('GET', 8));
  const script = found.find(([, , , [command]]) => /^eval/i.test(command ?? ''));
  return (script?.[2] ?? NaN) / 1_000;
}

/** @param {Call[]} calls @returns {Figures} */
function figures(calls) {
  const of = (/** @type {'script' | 'cpu'} */ what, /** @type {number} */ part) =>
    calls.map((call) => call[what]).toSorted((a, b) => a - b)[Math.floor(calls.length * part)] ??
    Math.max(...calls.map((call) => call[what]));
  const at = (/** @type {number} */ part) => ({ script: of('script', part), cpu: of('cpu', part) });
  return { longest: at(1), median: at(0.5), calls: calls.length };
}

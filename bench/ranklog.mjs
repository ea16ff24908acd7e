// @ts-check
// The processes of ranklog that benches start and measure.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseBoardsFile } from '#board';
import { BoardStore, ContinuityStore, KeySpace } from '#board-store';
import { logRanges } from '#kafka-batch';
import { totals } from './log.mjs';
import { figures, mark } from './meter.mjs';
import { BenchProcess } from './process.mjs';

/** @typedef {import('./sandbox.mjs').Sandbox} Sandbox */
/** @typedef {import('./log.mjs').Size} Size */
/**
 * @typedef {{ cli?: string | undefined, fields?: string }} Ranklog its program (default: ours), and
 * fields of the board beside its column
 */

const HERE = fileURLToPath(new URL('..', import.meta.url));
const LOOK_EVERY_MS = 20;
const SHARDS = Number(process.env['RANKLOG_SHARDS'] ?? 1);

/** A boards file. @param {string} [fields] of the board beside its column */
export function boardsFile(fields = '') {
  return `boards: { arena: { columns: [{ name: score }]${fields} } }\n`;
}

/**
 * The program of a checkout that is built. @param {string} [folder] default: this one @returns
 * {string}
 */
export function cliOf(folder = HERE) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return path.resolve(folder, /** @type {{ bin: { ranklog: string } }} */ (manifest).bin.ranklog);
}

/** Starts `ranklog start`. @param {Sandbox} sandbox @param {Ranklog} [ranklog] */
export function startRanklog(sandbox, ranklog) {
  return run(sandbox, ['start'], ranklog);
}

/**
 * Starts `ranklog boards rebuild arena`. @param {Sandbox} sandbox @param {Ranklog & { options?:
 * string[] }} [ranklog]
 */
export function startRebuild(sandbox, { options = [], ...ranklog } = {}) {
  return run(sandbox, ['boards', 'rebuild', 'arena', ...options], ranklog);
}

/** @param {Sandbox} sandbox @param {string[]} command @param {Ranklog} [ranklog] */
function run(sandbox, command, { cli = cliOf(), fields } = {}) {
  const env = sandbox.env(boardsFile(fields));
  if (cli !== cliOf()) delete env['RANKLOG_OPERATIONS_PORT']; // older checkouts refuse it
  return new BenchProcess([cli, ...command], env);
}

/**
 * Measures ingest from its first commit to its last. @param {Sandbox} sandbox @param {Size} size
 * @param {Ranklog} [ranklog]
 */
export async function measureIngest(sandbox, size, ranklog = {}) {
  const service = startRanklog(sandbox, ranklog);
  try {
    const begun = await sandbox.reached(1, service);
    const from = mark(service.pid);
    await sandbox.reached(size.events, service);
    const result = figures(from, mark(service.pid), size.events - begun);
    if (ranklog.cli === undefined) await checkScores(sandbox, totals(size));
    return result;
  } finally {
    await service.end('SIGTERM');
  }
}

/**
 * Measures a rebuild from its first events, as the others, to its report: the rest of the log, the
 * ranking, the comparison with live ingest, the promotion, the definition record.
 * @param {Sandbox} sandbox @param {Size} size @param {Ranklog} [ranklog]
 */
export async function measureRebuild(sandbox, size, ranklog = {}) {
  const { redis, name } = sandbox;
  // The first numbers in keys differ between checkouts
  const states = () => redis.keys(`${name}*:players:*`);
  const before = await states();
  const build = startRebuild(sandbox, ranklog);
  const report = build.line(/./);
  /** @type {string | undefined} */
  let key;
  while (key === undefined) {
    await build.checkRunning();
    await delay(LOOK_EVERY_MS);
    key = (await states()).find((found) => !before.includes(found));
  }
  const begun = await redis.hlen(key); // nearly all of the first events are of different players
  const from = mark(build.pid);
  await report;
  const result = figures(from, mark(build.pid), size.events - begun);
  await build.succeeded();
  if (ranklog.cli === undefined) await checkScores(sandbox, totals(size));
  return result;
}

/**
 * Makes the board live, with the applied offsets at the end of the log and without players. That
 * saves the time that ingest would need to get there.
 * @param {Sandbox} sandbox
 */
export async function goLive({ redis, kafka, name, topics }) {
  const keys = new KeySpace(name);
  const store = new BoardStore(redis, keys, { shards: SHARDS });
  const continuities = new ContinuityStore(redis, keys, { shards: SHARDS });
  await store.claim();
  const { versions } = await store.registerBoards(parseBoardsFile(boardsFile(), 'boards.yaml'));
  const idle = { shard: 0, version: versions[0] ?? '', boards: new Map(), entries: [] };
  const begun = await continuities.beginResync(0, await continuities.continuity(0));
  const recovered = begun && (await continuities.endResync(0, begun, new Map()));
  for (const [partition, { end }] of await logRanges(kafka, topics.scoreEvents)) {
    const call = { ...idle, partition, believed: -1, published: end, from: 0, through: end - 1 };
    const continuity = recovered?.token ?? '';
    const outcome = await store.apply({ ...call, continuity });
    if (outcome.status !== 'applied') throw new Error(`partition ${partition}: ${outcome.status}`);
  }
}

/**
 * Checks boards: the number of players, and the sum of their scores.
 * @throws Error if they differ from those of the log
 * @param {Sandbox} sandbox @param {{ players: number, sum: number }} expected of all boards
 * together
 * @param {string[]} [boards] @param {number} [shards]
 */
export async function checkScores({ redis, name }, expected, boards = ['arena'], shards = SHARDS) {
  const keys = new KeySpace(name);
  const store = new BoardStore(redis, keys, { shards });
  const { live } = await store.boards();
  let players = 0;
  let sum = 0;
  for (const board of boards) {
    const ranking = keys.ranking(store.shardOf(board), live.get(board)?.generation ?? '', 'all');
    const entries = await redis.zrange(ranking, 0, -1, 'WITHSCORES');
    players += entries.length / 2;
    for (let at = 1; at < entries.length; at += 2) sum -= Number(entries[at]);
  }
  if (players !== expected.players || sum !== expected.sum)
    throw new Error(
      `the boards have ${JSON.stringify({ players, sum })}, not ${JSON.stringify(expected)}`,
    );
}

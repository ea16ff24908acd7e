// @ts-check
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseBoardsFile } from '#board';
import { BoardStore, ContinuityStore, KeySpace, LeaseStore } from '#board-store';
import { logRanges } from '#kafka-batch';
import { NodeProcess } from './processes.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const REPORTER = new URL('./peak-rss.mjs', import.meta.url).href;
const SHARDS = 1;

export const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }\n';

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */

/**
 * Makes the board live, with the applied offsets at the end of the log and without players. That saves the time that
 * ingest would need to get there.
 * @param {Sandbox} sandbox
 */
export async function goLive({ redis, admin, name, topics }) {
  const keys = new KeySpace(name);
  const store = new BoardStore(redis, keys, { shards: SHARDS });
  const continuities = new ContinuityStore(redis, keys, { shards: SHARDS });
  await store.claim();
  const { versions } = await store.registerBoards(parseBoardsFile(BOARDS, 'boards.yaml'));
  const idle = { shard: 0, version: versions[0] ?? '', boards: new Map(), entries: [] };
  const begun = await continuities.beginResync(0, await continuities.continuity(0));
  const recovered = begun && (await continuities.endResync(0, begun, new Map()));
  for (const [partition, { end }] of await logRanges(admin, topics.scoreEvents)) {
    const call = { ...idle, partition, believed: -1, published: end, from: 0, through: end - 1 };
    const continuity = recovered?.token ?? '';
    const outcome = await store.apply({ ...call, continuity });
    if (outcome.status !== 'applied') throw new Error(`partition ${partition}: ${outcome.status}`);
  }
}

/**
 * Runs `ranklog boards rebuild arena` in a process of its own. Measures from the acquired lease to the end of the
 * reconciliation: all of the log, the promotion, the definition record.
 * @param {Sandbox} sandbox @returns {Promise<import('./processes.mjs').Run>}
 */
export async function rebuild(sandbox) {
  const begin = performance.now();
  await startRebuild(sandbox).succeeded();
  const whole = (performance.now() - begin) / 1_000;
  const seconds = await lasted(sandbox);
  const peakRss = Number(readFileSync(peakFile(sandbox), 'utf8')) / 1e3;
  return { seconds, peakRss, besides: whole - seconds };
}

/** @param {Sandbox} sandbox @param {readonly string[]} [options] of the command */
export function startRebuild(sandbox, options = []) {
  const env = { ...sandbox.env(BOARDS), BENCH_PEAK_RSS_FILE: peakFile(sandbox) };
  return new NodeProcess(
    ['--import', REPORTER, CLI, 'boards', 'rebuild', 'arena', ...options],
    env,
  );
}

/** @param {Sandbox} sandbox */
function peakFile({ folder }) {
  return path.join(folder, 'peak-rss');
}

/** How long the last reconciliation took, in seconds. @param {Sandbox} sandbox */
async function lasted({ redis, name }) {
  const leases = new LeaseStore(redis, new KeySpace(name), { shards: SHARDS });
  const status = (await leases.statuses()).find(({ board }) => board === 'arena');
  if (status?.state !== 'done')
    throw new Error(`the rebuild is ${status?.state ?? 'unknown'}, not done`);
  return (status.updatedAt - status.startedAt) / 1_000;
}

/**
 * Compares the board with the ZSET that the eachBatch peer filled from the same log: the number of
 * players, and the sum of their scores. @throws Error if they differ
 * @param {Sandbox} sandbox @param {string} counter key of the ZSET
 */
export async function checkScores({ redis, name }, counter) {
  const keys = new KeySpace(name);
  const store = new BoardStore(redis, keys, { shards: SHARDS });
  const generation = (await store.boards()).live.get('arena')?.generation ?? '';
  const ranking = keys.ranking(0, generation, 'all');
  const found = await sumOf(redis, ranking);
  const expected = await sumOf(redis, counter);
  if (found.players !== expected.players || found.sum !== -expected.sum)
    throw new Error(
      `the board has ${JSON.stringify(found)}, the ZSET of the eachBatch peer ${JSON.stringify(expected)}`,
    );
}

/** @param {import('ioredis').Redis} redis @param {string} key */
async function sumOf(redis, key) {
  const entries = await redis.zrange(key, 0, -1, 'WITHSCORES');
  let sum = 0;
  for (let at = 1; at < entries.length; at += 2) sum += Number(entries[at]);
  return { players: entries.length / 2, sum };
}

// @ts-check
// `npm run bench:read -- [--players N] [--requests N] [--json]`: compares queries of BoardReader
// with the bare commands of Redis that answer it roughly, through the same client, on boards of the
// same players, in one run. `--growth`: how both grow with the players. `--ingest`: how much reads
// slow ingest. `--streams N`: what N event streams take. `--http`: compares answers over HTTP with
// a Fastify that answers a constant of the same size, for `--seconds` each.
import { Redis } from 'ioredis';
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { readOptions, wholeNumber } from '../options.mjs';
import { withSandbox } from '../sandbox.mjs';
import { BOARDS, FilledBoard, withoutRewrites } from './filled-board.mjs';
import { benchGrowth } from './growth.mjs';
import { compareHttp } from './http.mjs';
import { printSlowdown, slowdown, summary } from './ingest.mjs';
import { compare, cpuOf } from './measure.mjs';
import { measureStreams, printStreams } from './streams.mjs';

const values = readOptions('read', {
  players: { type: 'string', default: '1000000' },
  requests: { type: 'string', default: '2000' },
  growth: { type: 'boolean', default: false },
  sizes: { type: 'string', default: '10000,100000,1000000,10000000' },
  ingest: { type: 'boolean', default: false },
  events: { type: 'string', default: '50000' },
  rounds: { type: 'string', default: '5' },
  streams: { type: 'string' },
  rate: { type: 'string', default: '10' },
  http: { type: 'boolean', default: false },
  seconds: { type: 'string' },
  json: { type: 'boolean', default: false },
});
const SIZES = { least: 1_000, most: 10_000_000 };
const players = wholeNumber('players', values.players, SIZES);
const sizes = values.sizes.split(',').map((size) => wholeNumber('sizes', size, SIZES));
const requests = wholeNumber('requests', values.requests, { least: 200, most: 1_000_000 });
const { json, streams: givenStreams } = values;
const givenSeconds = values.seconds ?? (givenStreams === undefined ? '8' : '30');
const seconds = wholeNumber('seconds', givenSeconds, { least: 1, most: 600 });
const rate = wholeNumber('rate', values.rate, { least: 1, most: 1_000 });
const events = wholeNumber('events', values.events, { least: 2_000, most: 1_000_000 });
const rounds = wholeNumber('rounds', values.rounds, { least: 1, most: 100 });

const redis = new Redis(process.env['REDIS_URL'] ?? '');
try {
  await withoutRewrites(redis, measure);
} finally {
  redis.disconnect();
}

async function measure() {
  if (values.growth) await benchGrowth(redis, { sizes, requests, json });
  else if (givenStreams !== undefined) await benchStreams(givenStreams);
  else if (values.ingest) await withBoard(benchIngest);
  else await withBoard(values.http ? benchHttp : benchReader);
}

/** @param {(board: FilledBoard) => Promise<void>} bench */
async function withBoard(bench) {
  const board = await FilledBoard.open(redis);
  const work = async () => {
    await board.grow(players);
    await bench(board);
  };
  await withCleanUp(work, () => board.remove());
}

/** @param {FilledBoard} board */
async function benchReader(board) {
  const compared = await compare([board], requests);
  const rows = compared.flatMap(({ query, boards }) =>
    boards.map(({ reader, bare }) => ({ query, reader, bare })),
  );
  if (json) console.log(JSON.stringify({ players, requests, rows }));
  else for (const row of rows) print(row);
}

/** @param {FilledBoard} board */
async function benchIngest(board) {
  const rows = await slowdown(board, { events, rounds });
  const medians = summary(rows);
  if (json) console.log(JSON.stringify({ players, events, rounds: rows, medians }));
  else printSlowdown(medians);
}

/** @param {string} given */
async function benchStreams(given) {
  const streams = wholeNumber('streams', given, { least: 3, most: 50_000 });
  const figures = await measureStreams(streams, { rate, seconds });
  if (json) console.log(JSON.stringify({ streams, ...figures }));
  else printStreams(figures);
}

/** @param {FilledBoard} board */
function benchHttp({ prefix }) {
  return withSandbox(async (sandbox) => {
    const env = { ...sandbox.env(BOARDS), RANKLOG_REDIS_PREFIX: prefix };
    const rows = await compareHttp(env, { players, seconds });
    if (json) console.log(JSON.stringify({ players, seconds, rows }));
    else for (const row of rows) printHttp(row);
  });
}

/** @param {Awaited<ReturnType<typeof compareHttp>>[number]} row */
function printHttp({ name, bytes, ranklog: own, constant }) {
  const figures = (/** @type {typeof own} */ { rate, p50, p99, cpu }) =>
    `${rate.toFixed(0).padStart(6)} requests/s  p50 ${p50} ms  p99 ${p99} ms  CPU ` +
    `${cpu.toFixed(0)} us`;
  console.log(
    `${name} (${bytes} bytes)\n  ranklog  ${figures(own)}\n  constant ${figures(constant)}\n` +
      `  ${(own.rate / constant.rate).toFixed(2)} of the rate of the constant`,
  );
}

/** @param {{ query: string } & Pick<import('./measure.mjs').Comparison, 'reader' | 'bare'>} row */
function print({ query, reader, bare }) {
  const us = (/** @type {number} */ value) => value.toFixed(0).padStart(5);
  const figures = (/** @type {typeof reader} */ { p50, p99, client, server }) =>
    `p50 ${us(p50)}  p99 ${us(p99)}  CPU ${us(client)} + ${us(server)}`;
  const ratio = cpuOf(reader) / cpuOf(bare);
  console.log(
    `${query}\n  reader ${figures(reader)} us\n  bare   ${figures(bare)} us\n` +
      `  ${(reader.p50 / bare.p50).toFixed(2)} times the p50, ${ratio.toFixed(2)} times the CPU ` +
      '(client + Redis)',
  );
}

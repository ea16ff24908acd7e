// @ts-check
// `npm run bench:read -- [--players N] [--requests N] [--json]`: compares queries of BoardReader with the bare commands of
// Redis that answer it roughly, through the same client, on boards of the same players, in one run. With `--http`, compares
// answers over HTTP with a Fastify that answers a constant of the same size, for `--seconds` each.
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { parseBoardsFile } from '#board';
import { BoardReader } from '#board-store';
import { ranklog } from '../apply/contenders.mjs';
import { deleteKeys } from '../apply/measure.mjs';
import { wholeNumber } from '../options.mjs';
import { Sandbox } from '../sandbox.mjs';
import { compareHttp } from './http.mjs';
import { bareQueries, readerQueries } from './queries.mjs';
import { compare } from './measure.mjs';

const BATCH = 500;
const T0 = Date.parse('2026-01-01T00:00:00Z');

const { values } = parseArgs({
  options: {
    players: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '2000' },
    http: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    json: { type: 'boolean', default: false },
  },
});
const players = wholeNumber('players', values.players, { least: 1_000, most: 10_000_000 });
const requests = wholeNumber('requests', values.requests, { least: 200, most: 1_000_000 });
const seconds = wholeNumber('seconds', values.seconds, { least: 1, most: 600 });

const redis = new Redis(process.env['REDIS_URL'] ?? '');
const BOARDS = 'boards: { bench: { columns: [{ name: points }] } }';
const [definition] = parseBoardsFile(BOARDS, 'bench');
if (definition === undefined) throw new Error('the bench has no board');
const board = await ranklog(redis, definition);
const zset = `${board.prefix}:zset`;
try {
  await fill();
  if (values.http) await benchHttp();
  else await benchReader();
} finally {
  await deleteKeys(redis, board.prefix);
  redis.disconnect();
}

async function benchReader() {
  const reader = new BoardReader({ redis, prefix: board.prefix });
  const size = { players, requests };
  const rows = await compare(redis, size, readerQueries(reader), bareQueries(redis, zset));
  if (values.json) console.log(JSON.stringify({ players, requests, rows }));
  else for (const row of rows) print(row);
}

async function benchHttp() {
  const sandbox = new Sandbox('read');
  await sandbox.open();
  try {
    const env = { ...sandbox.env(BOARDS), RANKLOG_REDIS_PREFIX: board.prefix };
    const rows = await compareHttp(env, { players, seconds });
    if (values.json) console.log(JSON.stringify({ players, seconds, rows }));
    else for (const row of rows) printHttp(row);
  } finally {
    await sandbox.remove();
  }
}

/** @param {Awaited<ReturnType<typeof compareHttp>>[number]} row */
function printHttp({ name, bytes, ranklog: own, constant }) {
  const figures = (/** @type {typeof own} */ { rate, p50, p99, cpu }) =>
    `${rate.toFixed(0).padStart(6)} requests/s  p50 ${p50} ms  p99 ${p99} ms  CPU ${cpu.toFixed(0)} us`;
  console.log(
    `${name} (${bytes} bytes)\n  ranklog  ${figures(own)}\n  constant ${figures(constant)}\n` +
      `  ${(own.rate / constant.rate).toFixed(2)} of the rate of the constant`,
  );
}

/** Gives every player a random score, on the board and in the plain ZSET. */
async function fill() {
  for (let from = 0; from < players; from += BATCH) {
    const scores = Array.from({ length: Math.min(BATCH, players - from) }, (_, index) => ({
      player: `player-${from + index}`,
      delta: Math.floor(Math.random() * players),
      time: T0 + from + index,
    }));
    await Promise.all([
      board.apply(scores),
      redis.zadd(zset, ...scores.flatMap(({ player, delta }) => [delta, player])),
    ]);
  }
}

/** @param {Awaited<ReturnType<typeof compare>>[number]} row */
function print({ query, reader, bare }) {
  const us = (/** @type {number} */ value) => value.toFixed(0).padStart(5);
  const figures = (/** @type {typeof reader} */ { p50, p99, client, server }) =>
    `p50 ${us(p50)}  p99 ${us(p99)}  CPU ${us(client)} + ${us(server)}`;
  const ratio = (reader.client + reader.server) / (bare.client + bare.server);
  console.log(
    `${query}\n  reader ${figures(reader)} us\n  bare   ${figures(bare)} us\n` +
      `  ${(reader.p50 / bare.p50).toFixed(2)} times the p50, ${ratio.toFixed(2)} times the CPU (client + Redis)`,
  );
}

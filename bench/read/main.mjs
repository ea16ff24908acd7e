// @ts-check
// `npm run bench:read -- [--players N] [--requests N] [--json]`: compares each query of BoardReader with the bare commands of
// Redis that answer it roughly, through the same client, on boards of the same players, in one run.
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { parseBoardsFile } from '#board';
import { BoardReader } from '#board-store';
import { ranklog } from '../apply/contenders.mjs';
import { deleteKeys } from '../apply/measure.mjs';
import { wholeNumber } from '../options.mjs';
import { bareQueries, readerQueries } from './queries.mjs';
import { compare } from './measure.mjs';

const BATCH = 500;
const T0 = Date.parse('2026-01-01T00:00:00Z');

const { values } = parseArgs({
  options: {
    players: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '2000' },
    json: { type: 'boolean', default: false },
  },
});
const players = wholeNumber('players', values.players, { least: 1_000, most: 10_000_000 });
const requests = wholeNumber('requests', values.requests, { least: 200, most: 1_000_000 });

const redis = new Redis(process.env['REDIS_URL'] ?? '');
const [definition] = parseBoardsFile('boards: { bench: { columns: [{ name: points }] } }', 'bench');
if (definition === undefined) throw new Error('the bench has no board');
const board = await ranklog(redis, definition);
const zset = `${board.prefix}:zset`;
try {
  await fill();
  const reader = new BoardReader({ redis, prefix: board.prefix });
  const size = { players, requests };
  const rows = await compare(redis, size, readerQueries(reader), bareQueries(redis, zset));
  if (values.json) console.log(JSON.stringify({ players, requests, rows }));
  else for (const row of rows) print(row);
} finally {
  await deleteKeys(redis, board.prefix);
  redis.disconnect();
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

// @ts-check
// Child of bench/read/ingest.mjs. On the message `reads` it asks BoardReader as fast as it can; on
// `computes` it keeps a CPU busy without Redis; on `report` it stops, and answers how many reads it
// got and how much CPU time it used, in us.
import { Redis } from 'ioredis';
import { BoardReader } from '#board-store';
import { randomInput, readerQueries } from './queries.mjs';

const IN_FLIGHT = 16;
const COMPUTE_MS = 5;
const [prefix = '', players = ''] = process.argv.slice(2);

const redis = new Redis(process.env['REDIS_URL'] ?? '');
const queries = Object.values(pick(readerQueries(new BoardReader({ redis, prefix }))));
const inputs = Array.from({ length: 1_000 }, () => randomInput(Number(players)));
let work = 'report';
let reads = 0;
let cpu = process.cpuUsage();

process.on('message', (message) => {
  if (message === 'report') {
    const { user, system } = process.cpuUsage(cpu);
    process.send?.({ reads, cpu: user + system });
  }
  work = String(message);
  reads = 0;
  cpu = process.cpuUsage();
  if (work === 'reads') for (let index = 0; index < IN_FLIGHT; index++) void read(index);
  if (work === 'computes') compute();
});
process.on('disconnect', () => redis.disconnect());

/** Those that a game asks most. @param {import('./queries.mjs').Queries} all */
function pick({ 'top 100': top, 'rank of a player': rank, 'around a player': around }) {
  return { top, rank, around };
}

/** @param {number} turn */
async function read(turn) {
  for (let next = turn; work === 'reads'; next++, reads++) {
    const [query, input] = [queries[next % queries.length], inputs[next % inputs.length]];
    if (query !== undefined && input !== undefined) await query(input);
  }
}

function compute() {
  const end = performance.now() + COMPUTE_MS;
  while (performance.now() < end);
  if (work === 'computes') setImmediate(compute);
}

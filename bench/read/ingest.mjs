// @ts-check
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median, redisCpu } from '../apply/measure.mjs';
import { fillLog } from '../log.mjs';
import { startRanklog } from '../ranklog.mjs';
import { withSandbox } from '../sandbox.mjs';

const NEIGHBOUR = fileURLToPath(new URL('./reading-process.mjs', import.meta.url));
/**
 * What the other process does meanwhile; `computes` shows what sharing the CPUs costs without
 * sharing Redis.
 */
const WORKS = /** @type {const} */ (['rests', 'reads', 'computes']);

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */
/**
 * @typedef {{ rate: number, reads: number, cpu: number, redis: number }} Slice events and reads per
 * second; used CPUs of the other process and of Redis
 */
/** @typedef {Record<(typeof WORKS)[number], Slice>} Round */
/** @typedef {{ events: number, rounds: number }} Size events per slice */

/**
 * Measures how fast `ranklog start` ingests one long log, in slices that alternate: alone, while
 * another process reads a filled board on the same Redis, and while it only computes.
 * @param {import('./filled-board.mjs').FilledBoard} board @param {Size} size
 */
export function slowdown(board, size) {
  return withSandbox((sandbox) => measureRounds(sandbox, board, size));
}

/**
 * @param {Sandbox} sandbox @param {import('./filled-board.mjs').FilledBoard} board
 * @param {Size} size @returns {Promise<Round[]>}
 */
async function measureRounds(sandbox, board, { events, rounds }) {
  const neighbour = fork(NEIGHBOUR, [board.prefix, String(board.players)]);
  // One slice warms up, and one is left over, as the partitions do not end together.
  await fillLog(sandbox, { events: (rounds * WORKS.length + 2) * events, players: 10_000 });
  const service = startRanklog(sandbox);
  try {
    let target = events;
    let begin = await reach(sandbox, service, target);
    const results = [];
    for (let round = 0; round < rounds; round++) {
      const slices = /** @type {Round} */ ({});
      for (const work of WORKS) {
        const cpu = await redisCpu(board.redis);
        neighbour.send(work);
        const end = await reach(sandbox, service, (target += events));
        neighbour.send('report');
        const [used] = /** @type {[{ reads: number, cpu: number }]} */ (
          await once(neighbour, 'message')
        );
        const seconds = (end.at - begin.at) / 1_000;
        slices[work] = {
          rate: (end.published - begin.published) / seconds,
          reads: used.reads / seconds,
          cpu: used.cpu / 1e6 / seconds,
          redis: ((await redisCpu(board.redis)) - cpu) / 1e6 / seconds,
        };
        begin = end;
      }
      results.push(slices);
    }
    return results;
  } finally {
    if (neighbour.connected) neighbour.disconnect(); // it throws if the neighbour has ended
    await service.end('SIGTERM');
  }
}

/**
 * Waits until the results of so many events are published. @param {Sandbox} sandbox @param
 * {import('../process.mjs').BenchProcess} service @param {number} events
 */
async function reach(sandbox, service, events) {
  return { published: await sandbox.reached(events, service), at: performance.now() };
}

/** @param {Round[]} rounds */
export function summary(rounds) {
  return WORKS.map((work) => {
    const of = (/** @type {keyof Slice} */ what) =>
      median(rounds.map((round) => round[work][what]));
    const part = median(rounds.map((round) => round[work].rate / round.rests.rate));
    const figures = { rate: of('rate'), reads: of('reads'), cpu: of('cpu'), redis: of('redis') };
    return { work, slowdown: 1 - part, ...figures };
  });
}

/** @param {ReturnType<typeof summary>} rows */
export function printSlowdown(rows) {
  for (const { work, slowdown: part, rate, reads, cpu, redis } of rows)
    console.log(
      `another process ${work.padEnd(8)}  ${rate.toFixed(0).padStart(6)} events/s, ` +
        `${(100 * part).toFixed(1)} % slower; ${reads.toFixed(0)} reads/s; CPUs used: ` +
        `${cpu.toFixed(2)} by it, ${redis.toFixed(2)} by Redis`,
    );
}

// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { withSandbox } from '../sandbox.mjs';
import { fillLog } from '../log.mjs';
import { LiveTraffic } from '../live-traffic.mjs';
import { goLive, startRanklog, startRebuild } from '../ranklog.mjs';

const WARM_UP_MS = 5_000;

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */

/**
 * Measures live latency without a build, during unthrottled builds, and during a throttled one.
 * @param {{ events: number, players: number, eventsPerSecond: number, throttle: number, seconds:
 * number }} options
 */
export function compareLatencies({ events, players, eventsPerSecond, throttle, seconds }) {
  return withSandbox(async (sandbox) => {
    await fillLog(sandbox, { events, players });
    await goLive(sandbox);
    await startRebuild(sandbox).succeeded(); // so that the board is full from the start
    const service = startRanklog(sandbox);
    const traffic = new LiveTraffic(sandbox, { players });
    const during = (/** @type {() => Promise<unknown>} */ work) =>
      traffic.during(eventsPerSecond, work);
    await traffic.open();
    try {
      await during(() => delay(WARM_UP_MS));
      const rows = [
        { what: 'no build', ...(await during(() => delay(seconds * 1_000))) },
        { what: 'a build', ...(await during(() => rebuildFor(sandbox, seconds))) },
        {
          what: `a build at ${throttle} events/s`,
          ...(await during(() => throttledFor(sandbox, { seconds, throttle }))),
        },
      ];
      await service.checkRunning();
      return { result: { events, players, eventsPerSecond, rows }, text: table(rows) };
    } finally {
      await traffic.close();
      await service.end('SIGTERM');
    }
  });
}

/**
 * Runs builds one after another until the time is over, and completes the last one.
 * @param {Sandbox} sandbox @param {number} seconds
 */
async function rebuildFor(sandbox, seconds) {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) await startRebuild(sandbox).succeeded();
}

/** @param {Sandbox} sandbox @param {{ seconds: number, throttle: number }} options */
async function throttledFor(sandbox, { seconds, throttle }) {
  const build = startRebuild(sandbox, { options: ['--throttle', String(throttle)] });
  await Promise.race([build.succeeded(), delay(seconds * 1_000)]);
  await build.end('SIGINT');
}

/**
 * @param {({ what: string } & import('../live-traffic.mjs').Latencies)[]} rows the row without a
 * build first
 */
function table(rows) {
  const quiet = rows[0]?.p99 ?? NaN;
  return rows
    .map(({ what, events, p50, p99, worst }) =>
      [
        what.padEnd(28),
        `${events} events`,
        `p50 ${p50.toFixed(1)} ms`,
        `p99 ${p99.toFixed(1)} ms, ${(p99 / quiet).toFixed(2)} times that without a build`,
        `worst ${worst.toFixed(0)} ms`,
      ].join('   '),
    )
    .join('\n');
}

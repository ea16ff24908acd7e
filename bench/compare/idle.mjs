// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { fillLog } from '../log.mjs';
import { withSandbox } from '../sandbox.mjs';
import { figures, mark } from '../meter.mjs';
import { cliOf, startRanklog } from '../ranklog.mjs';

const PARTITIONS = 12;
const EVENTS = 1_000;
/** The optimising compiler of V8 is busy for most of the first minute. */
const SETTLE_MS = 60_000;

/**
 * Measures what a process of ranklog uses that has joined, has applied some events and gets no
 * more.
 * @param {{ seconds: number, against: string | undefined }} options @returns figures in % of a core
 */
export async function measureIdle({ seconds, against }) {
  const rows = [{ name: 'ranklog', ...(await idle(undefined, seconds)) }];
  if (against !== undefined)
    rows.push({ name: 'before', ...(await idle(cliOf(against), seconds)) });
  return { seconds, partitions: PARTITIONS, rows };
}

/** @param {string | undefined} cli @param {number} seconds */
function idle(cli, seconds) {
  const measure = async (/** @type {import('../sandbox.mjs').Sandbox} */ sandbox) => {
    await fillLog(sandbox, { events: EVENTS, players: EVENTS });
    const service = startRanklog(sandbox, { cli });
    try {
      await sandbox.reached(EVENTS, service);
      await delay(SETTLE_MS);
      const from = mark(service.pid);
      await delay(seconds * 1_000);
      const { own, redis, kafka } = figures(from, mark(service.pid), seconds * 1e6);
      return { own: 100 * own, redis: 100 * redis, kafka: 100 * kafka };
    } finally {
      await service.end('SIGTERM');
    }
  };
  return withSandbox(measure, { partitions: PARTITIONS });
}

/** @param {Awaited<ReturnType<typeof measureIdle>>} result */
export function idleText({ seconds, partitions, rows }) {
  const lines = rows.map(
    ({ name, own, redis, kafka }) =>
      `${name}: ${own.toFixed(2)} % of a core; Redis ${redis.toFixed(2)} %, Kafka ` +
      `${kafka.toFixed(2)} %`,
  );
  return [`no events for ${seconds} s, ${partitions} partitions`, ...lines].join('\n');
}

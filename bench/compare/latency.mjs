// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../apply/measure.mjs';
import { LiveTraffic } from '../live-traffic.mjs';
import { fillLog } from '../log.mjs';
import { withSandbox } from '../sandbox.mjs';
import { startPeer } from './contenders.mjs';
import { cliOf, startRanklog } from '../ranklog.mjs';
import { buildStreams, rankedTopic, startStreams } from './streams.mjs';
import { table } from './table.mjs';

/** The load of each process before its measurement. */
const WARM_UP = { events: 50_000, milliseconds: 3_000 };
const PERCENTILES = /** @type {const} */ (['p50', 'p95', 'p99']);

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */
/** @typedef {import('../live-traffic.mjs').Latencies} Latencies */
/** @typedef {import('../process.mjs').BenchProcess} BenchProcess */
/**
 * @typedef {{ start: (sandbox: Sandbox) => BenchProcess | Promise<BenchProcess>, topic?: (sandbox:
 * Sandbox) => string }} Service
 */
/**
 * @typedef {{ rates: number[], seconds: number, rounds: number, players: number, partitions:
 * number, against: string | undefined }} Options
 */

/**
 * Measures the time from producing an event until a read_committed subscriber has its result. The
 * services take turns, round by round.
 * @param {Options} options
 */
export async function compareLatencies(options) {
  const { rates, rounds, against } = options;
  const services = servicesOf(against);
  const names = Object.keys(services);

  /** @type {{ name: string, rate: number, latencies: Latencies }[]} */
  const found = [];
  for (let round = 1; round <= rounds; round++)
    for (const [name, service] of Object.entries(services)) {
      process.stderr.write(`round ${round} of ${rounds}: ${name}\n`);
      for (const { rate, latencies } of await measure(service, options))
        found.push({ name, rate, latencies });
    }

  const rows = [];
  for (const rate of rates)
    for (const name of names) {
      const ofRow = found.filter((each) => each.rate === rate && each.name === name);
      const latencies = ofRow.map((each) => each.latencies);
      rows.push(rowOf(rate, name, latencies));
    }
  return { ...options, rows };
}

/** @param {number} rate @param {string} name @param {Latencies[]} rounds */
function rowOf(rate, name, rounds) {
  return {
    rate,
    name,
    p50: median(rounds.map(({ p50 }) => p50)),
    p95: median(rounds.map(({ p95 }) => p95)),
    p99: median(rounds.map(({ p99 }) => p99)),
    rounds,
  };
}

/** @param {string | undefined} against @returns {Record<string, Service>} */
function servicesOf(against) {
  const whyNoStreams = buildStreams();
  /** @type {Record<string, Service>} */
  const services = {
    transaction: { start: (sandbox) => startPeer(sandbox, 'transaction') },
    ranklog: { start: (sandbox) => startRanklog(sandbox) },
  };
  if (against !== undefined)
    services['before'] = { start: (sandbox) => startRanklog(sandbox, { cli: cliOf(against) }) };

  if (whyNoStreams === undefined) services['streams'] = { start: startStreams, topic: rankedTopic };
  else process.stderr.write(`Kafka Streams is left out: ${whyNoStreams}\n`);
  return services;
}

/** Measures one process at each rate. @param {Service} service @param {Options} options */
function measure(service, options) {
  const { partitions } = options;
  return withSandbox((sandbox) => measureIn(sandbox, service, options), { partitions });
}

/** @param {Sandbox} sandbox @param {Service} service @param {Options} options */
async function measureIn(sandbox, service, { rates, seconds, players }) {
  await fillLog(sandbox, { events: WARM_UP.events, players });
  const running = await service.start(sandbox);
  const traffic = new LiveTraffic(sandbox, { players });
  try {
    await sandbox.reached(WARM_UP.events, running, service.topic?.(sandbox));
    await traffic.open();
    await traffic.during(rates[0] ?? 1, () => delay(WARM_UP.milliseconds));

    const found = [];
    for (const rate of rates) {
      const latencies = await traffic.during(rate, () => delay(seconds * 1_000));
      found.push({ rate, latencies });
    }
    await running.checkRunning();
    return found;
  } finally {
    await traffic.close();
    await running.end('SIGTERM');
  }
}

/** @param {Awaited<ReturnType<typeof compareLatencies>>} result */
export function latenciesText({ rows, seconds, rounds }) {
  const title =
    `ms from produce to a read_committed subscriber; median of the rounds (${rounds} of ` +
    `${seconds} s)\n`;
  const head = ['', '', ...PERCENTILES, 'times those of one bare transaction'];
  const lines = rows.map((row) => {
    const bare = rows.find(({ rate, name }) => rate === row.rate && name === 'transaction');
    const milliseconds = PERCENTILES.map((which) => row[which].toFixed(1));
    const ratios = PERCENTILES.map((which) => (row[which] / (bare?.[which] ?? NaN)).toFixed(2));
    return [`${row.rate} events/s`, row.name, ...milliseconds, ratios.join(' / ')];
  });
  return [title, table([head, ...lines])].join('\n');
}

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

/** What each process handles before it is measured. */
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
 * Compares the time from producing an event to its result at a read_committed subscriber, in turns.
 * @param {Options} options
 */
export async function compareLatencies(options) {
  const { rates, rounds, against } = options;
  const services = servicesOf(against);
  /** @type {Map<string, Latencies[]>} */
  const found = new Map();
  for (let round = 1; round <= rounds; round++)
    for (const [name, service] of Object.entries(services)) {
      process.stderr.write(`round ${round} of ${rounds}: ${name}\n`);
      for (const [index, latencies] of (await measure(service, options)).entries()) {
        const key = `${rates[index]} ${name}`;
        found.set(key, [...(found.get(key) ?? []), latencies]);
      }
    }
  const rows = rates.flatMap((rate) =>
    Object.keys(services).map((name) => {
      const all = found.get(`${rate} ${name}`) ?? [];
      const [p50, p95, p99] = PERCENTILES.map((which) => median(all.map((each) => each[which])));
      return { rate, name, p50, p95, p99, rounds: all };
    }),
  );
  return { ...options, rows };
}

/** @param {string | undefined} against @returns {Record<string, Service>} */
function servicesOf(against) {
  const why = buildStreams();
  if (why !== undefined) process.stderr.write(`Kafka Streams is left out: ${why}\n`);
  return {
    transaction: { start: (sandbox) => startPeer(sandbox, 'transaction') },
    ranklog: { start: (sandbox) => startRanklog(sandbox) },
    ...(against !== undefined && {
      before: { start: (sandbox) => startRanklog(sandbox, { cli: cliOf(against) }) },
    }),
    ...(why === undefined && { streams: { start: startStreams, topic: rankedTopic } }),
  };
}

/** Measures one process at each rate. @param {Service} service @param {Options} options */
function measure({ start, topic }, { rates, seconds, players, partitions }) {
  const measureRates = async (/** @type {Sandbox} */ sandbox) => {
    await fillLog(sandbox, { events: WARM_UP.events, players });
    const service = await start(sandbox);
    const traffic = new LiveTraffic(sandbox, { players });
    try {
      await sandbox.reached(WARM_UP.events, service, topic?.(sandbox));
      await traffic.open();
      await traffic.during(rates[0] ?? 1, () => delay(WARM_UP.milliseconds));
      const found = [];
      for (const rate of rates)
        found.push(await traffic.during(rate, () => delay(seconds * 1_000)));
      await service.checkRunning();
      return found;
    } finally {
      await traffic.close();
      await service.end('SIGTERM');
    }
  };
  return withSandbox(measureRates, { partitions });
}

/** @param {Awaited<ReturnType<typeof compareLatencies>>} result */
export function latenciesText({ rows, seconds, rounds }) {
  const lines = rows.map((row) => {
    const bare = rows.find(({ rate, name }) => rate === row.rate && name === 'transaction');
    return [
      ...[`${row.rate} events/s`, row.name],
      ...PERCENTILES.map((which) => (row[which] ?? NaN).toFixed(1)),
      PERCENTILES.map((which) => ((row[which] ?? NaN) / (bare?.[which] ?? NaN)).toFixed(2)).join(
        ' / ',
      ),
    ];
  });
  return [
    `ms from produce to a read_committed subscriber; median of the rounds (${rounds} of ` +
      `${seconds} s)\n`,
    table([['', '', 'p50', 'p95', 'p99', 'times those of one bare transaction'], ...lines]),
  ].join('\n');
}

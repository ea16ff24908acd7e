// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { Sandbox, PARTITIONS } from '../sandbox.mjs';
import { readOptions, wholeNumber } from '../options.mjs';
import { BenchProcess, REPORTS_MEMORY } from '../process.mjs';
import { cliOf } from '../ranklog.mjs';

const BOARDS =
  'boards: { arena: { columns: [{ name: score }], windows: [all, day], publish: { leaders: ' +
  '10 } } }\n';
const PLAYERS = 10_000;
const BATCH = 1_000;
/** Producing pauses while more events than this are not published. */
const LEAD = 100_000;
/** One record in BAD_EVERY is not a valid event. */
const BAD_EVERY = 1_000;
const SAMPLES = 20;
const MEGABYTE = 1e6;

/**
 * @typedef {{ events: number, seconds: number, rss: number, heapUsed: number, external: number }}
 * Sample sizes in MB
 */

const values = readOptions('soak', {
  events: { type: 'string', default: '5000000' },
  json: { type: 'boolean', default: false },
});
const total = wholeNumber('events', values.events, { least: 100_000, most: 100_000_000 });
const every = Math.round(total / SAMPLES);

const sandbox = new Sandbox();
const { kafka, topics } = sandbox;
let published = 0;

await sandbox.open();
const service = new BenchProcess([...REPORTS_MEMORY, cliOf(), 'start'], sandbox.env(BOARDS));
await withCleanUp(
  async () => {
    const [samples] = await Promise.all([sample(), produce()]);
    print(samples);
  },
  async () => {
    await service.end('SIGTERM');
    await sandbox.remove();
  },
);

async function produce() {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (let from = 0; from < total; from += BATCH) {
    while (from - published > LEAD) await delay(10);
    const messages = Array.from({ length: Math.min(BATCH, total - from) }, (_, n) =>
      record(from + n),
    );
    await producer.send({ topic: topics.scoreEvents, messages });
  }
  await producer.disconnect();
}

/** @param {number} n @returns {import('kafkajs').Message} */
function record(n) {
  const playerId = `player-${Math.floor(Math.random() * PLAYERS)}`;
  if (n % BAD_EVERY === 0) return { key: playerId, value: 'no event' };
  const delta = String(1 + Math.floor(Math.random() * 1_000));
  return { key: playerId, value: JSON.stringify({ board: 'arena', playerId, delta }) };
}

/** @returns {Promise<Sample[]>} */
async function sample() {
  const begin = performance.now();
  /** @type {Sample[]} */
  const samples = [];
  while (published < total) {
    await delay(50);
    await service.checkRunning();
    published = await sandbox.published();
    if (published < Math.min(total, (samples.length + 1) * every)) continue;
    const { rss, heapUsed, external } = await service.memory();
    const megabytes = (/** @type {number} */ bytes) => Math.round((bytes / MEGABYTE) * 10) / 10;
    samples.push({
      events: published,
      seconds: (performance.now() - begin) / 1_000,
      rss: megabytes(rss),
      heapUsed: megabytes(heapUsed),
      external: megabytes(external),
    });
  }
  return samples;
}

/** @param {Sample[]} samples */
function print(samples) {
  const half = samples.slice(Math.floor(samples.length / 2));
  const slopes = { rss: slope(half, 'rss'), heapUsed: slope(half, 'heapUsed') };
  if (values.json) {
    console.log(
      JSON.stringify({ events: total, players: PLAYERS, partitions: PARTITIONS, samples, slopes }),
    );
    return;
  }
  console.log('   events  events/s  RSS MB  heap MB  external MB');
  samples.forEach(({ events, seconds, rss, heapUsed, external }, index) => {
    const before = samples[index - 1] ?? { events: 0, seconds: 0 };
    const rate = Math.round((events - before.events) / (seconds - before.seconds));
    const cells = [
      [events, 9],
      [rate, 10],
      [rss, 8],
      [heapUsed, 9],
      [external, 13],
    ];
    console.log(cells.map(([cell = 0, width = 0]) => String(cell).padStart(width)).join(''));
  });
  console.log(
    `\nMB per million events, over the second half: RSS ${slopes.rss.toFixed(2)}, heap ` +
      slopes.heapUsed.toFixed(2),
  );
}

/**
 * How much a size grows per million events, by least squares.
 * @param {Sample[]} samples @param {'rss' | 'heapUsed'} what
 */
function slope(samples, what) {
  const mean = (/** @type {number[]} */ all) => all.reduce((sum, one) => sum + one, 0) / all.length;
  const meanEvents = mean(samples.map(({ events }) => events));
  const meanSize = mean(samples.map((each) => each[what]));
  let above = 0;
  let below = 0;
  for (const each of samples) {
    above += (each.events - meanEvents) * (each[what] - meanSize);
    below += (each.events - meanEvents) ** 2;
  }
  return (above / below) * 1e6;
}

// @ts-check
// `npm run bench`: see HELP.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { machine } from '../machine.mjs';
import { wholeNumber } from '../options.mjs';
import { withoutRewrites } from '../read/filled-board.mjs';
import { chart } from './chart.mjs';
import { compareGrowth, growthText } from './growth.mjs';
import { idleText, measureIdle } from './idle.mjs';
import { compareLatencies, latenciesText } from './latency.mjs';
import { compareRates, ratesText } from './rates.mjs';

const HELP = `Usage: npm run bench -- [OPTIONS]

Compares ranklog with other ways to keep a leaderboard on Kafka, each in a process of its own, in turns, on the same events:
events per second, CPU per event of the process, Redis and Kafka, memory. docs/performance.md explains the contenders.

  --events N          events of each run (default 200000; peers that await each event get a part of them)
  --players N         players (default 100000)
  --partitions N      partitions of the score topic (default 2)
  --rounds N          each contender runs once a round; the figures are medians (default 3)
  --only NAME,NAME    only these contenders
  --against FOLDER    also runs another checkout of ranklog that is built; its rows are named before
  --quick             one round of 100000 events (--latency: one of 5 s): under 3 minutes
  --svg FILE          writes a chart of the rates and the CPU per event
  --json              prints JSON

Instead of the rates:
  --latency           time from produce to a read_committed subscriber [--rates 100,1000,5000] [--seconds 12]
  --growth            CPU per event by players of the board [--sizes 10000,100000,1000000,10000000]
  --idle              CPU of a process without events, on 12 partitions [--seconds 20]
`;

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    players: { type: 'string', default: '100000' },
    partitions: { type: 'string', default: '2' },
    rounds: { type: 'string' },
    only: { type: 'string' },
    against: { type: 'string' },
    quick: { type: 'boolean', default: false },
    svg: { type: 'string' },
    json: { type: 'boolean', default: false },
    latency: { type: 'boolean', default: false },
    rates: { type: 'string', default: '100,1000,5000' },
    seconds: { type: 'string' },
    growth: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '10000,100000,1000000,10000000' },
    idle: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { against, quick, svg } = values;

if (values.help) console.log(HELP);
else {
  const redis = new Redis(process.env['REDIS_URL'] ?? '');
  try {
    const { text, ...result } = await withoutRewrites(redis, () => measure(redis));
    const where = machine();
    const { cpus, model, memoryGB, node, date } = where;
    if (values.json) console.log(JSON.stringify({ machine: where, ...result }));
    else console.log(`${text}\n\n${cpus} CPUs (${model}), ${memoryGB} GB, node ${node}, ${date}`);
  } finally {
    redis.disconnect();
  }
}

/** @param {Redis} redis @returns {Promise<{ text: string }>} and the figures */
async function measure(redis) {
  const rounds = wholeNumber('rounds', values.rounds ?? (quick ? '1' : '3'), range(1, 100));
  const players = wholeNumber('players', values.players, range(1, 10_000_000));
  const partitions = wholeNumber('partitions', values.partitions, range(1, 100));
  if (values.latency) {
    const rates = list('rates', values.rates, range(1, 100_000));
    const seconds = secondsOr(quick ? 5 : 12);
    const size = { players, partitions, rounds, seconds, rates, against };
    const result = await compareLatencies(size);
    return { ...result, text: latenciesText(result) };
  }
  if (values.growth) {
    const result = await compareGrowth(redis, list('sizes', values.sizes, range(1_000, 1e8)));
    return { ...result, text: growthText(result) };
  }
  if (values.idle) {
    const result = await measureIdle({ seconds: secondsOr(20), against });
    return { ...result, text: idleText(result) };
  }
  const given = values.events ?? (quick ? '100000' : '200000');
  const events = wholeNumber('events', given, range(5_000, 100_000_000));
  const only = values.only?.split(',');
  const result = await compareRates({ events, players, partitions, rounds, only, against });
  if (svg !== undefined) writeFileSync(svg, chart(result.rows));
  return { ...result, text: ratesText(result) };
}

/** @param {number} otherwise */
function secondsOr(otherwise) {
  return wholeNumber('seconds', values.seconds ?? String(otherwise), range(1, 3_600));
}

/** @param {string} name @param {string} text @param {{ least: number, most: number }} bounds */
function list(name, text, bounds) {
  return text.split(',').map((one) => wholeNumber(name, one, bounds));
}

/** @param {number} least @param {number} most */
function range(least, most) {
  return { least, most };
}

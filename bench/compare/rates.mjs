// @ts-check
import { median } from '../apply/measure.mjs';
import { fillLog } from '../log.mjs';
import { withSandbox } from '../sandbox.mjs';
import { contenders } from './contenders.mjs';
import { allCpu, medians } from '../meter.mjs';
import { buildStreams } from './streams.mjs';
import { count, table } from './table.mjs';

/** @typedef {import('../meter.mjs').Figures} Figures */
/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */
/** @typedef {import('./contenders.mjs').Contender} Contender */
/**
 * @typedef {{ name: string, what: string, rounds: Figures[], median: Figures, beside: string }} Row
 */
/**
 * @typedef {import('../log.mjs').Size & { partitions: number, rounds: number, only: string[] |
 * undefined, against: string | undefined }} Options
 */

/** Whose rate is divided by whose. */
const RATIOS = [
  ...['ranklog', 'ranklog-none', 'rebuild'].map((name) => [name, 'loop']),
  ...[
    ['ranklog', 'streams-warm'],
    ['ranklog', 'transaction'],
    ['ranklog-4', 'ranklog'],
  ],
  ['ranklog-headers', 'ranklog'],
  ...['', '-headers', '-none', '-4'].map((kind) => [`ranklog${kind}`, `before${kind}`]),
  ['rebuild', 'before-rebuild'],
];

/**
 * Runs the contenders in turn, each on a log of its own with the same events. Every second round
 * goes the other way round: who comes first in a round is some per cent slower.
 * @param {Options} options
 */
export async function compareRates(options) {
  const { rounds, only, ...size } = options;
  const chosen = choose(contenders(options), only);
  /** @type {Map<string, Figures[]>} */
  const found = new Map();
  for (let round = 1; round <= rounds; round++)
    for (const contender of round % 2 === 1 ? chosen : chosen.toReversed())
      for (const [name, figures] of Object.entries(await run(contender, size))) {
        process.stderr.write(`round ${round} of ${rounds}: ${name} ${count(figures.rate)}/s\n`);
        found.set(name, [...(found.get(name) ?? []), figures]);
      }
  const whats = new Map(chosen.flatMap(({ rows }) => Object.entries(rows)));
  const rows = [...found]
    .filter(([name]) => only?.includes(name) ?? true)
    .map(([name, all]) => ({ ...row(name, all, found), what: whats.get(name) ?? '' }));
  return { ...size, rounds, rows };
}

/** @param {Contender[]} all @param {string[] | undefined} only */
function choose(all, only) {
  const names = all.flatMap(({ rows }) => Object.keys(rows));
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: use ${names.join(', ')}`);
  const chosen = all.filter(({ rows }) =>
    Object.keys(rows).some((name) => only?.includes(name) ?? true),
  );
  const isStreams = (/** @type {Contender} */ { rows }) => 'streams-warm' in rows;
  const why = chosen.some(isStreams) ? buildStreams() : undefined;
  if (why === undefined) return chosen;
  process.stderr.write(`Kafka Streams is left out: ${why}\n`);
  return chosen.filter((contender) => !isStreams(contender));
}

/**
 * @param {Contender} contender @param {{ events: number, players: number, partitions: number }}
 * size
 */
function run({ share = 1, withHeaders, ...contender }, { events, players, partitions }) {
  const size = { events: Math.round(events * share), players };
  const measure = async (/** @type {Sandbox} */ sandbox) => {
    await fillLog(sandbox, { ...size, withHeaders });
    return contender.run(sandbox, size);
  };
  return withSandbox(measure, { partitions });
}

/** @param {string} name @param {Figures[]} rounds @param {ReadonlyMap<string, Figures[]>} all */
function row(name, rounds, all) {
  const beside = RATIOS.flatMap(([own, other = '']) => {
    const others = all.get(other);
    if (own !== name || others === undefined) return [];
    const ratios = rounds.map(({ rate }, round) => rate / (others[round]?.rate ?? NaN));
    return [`${median(ratios).toFixed(2)} of ${other}`];
  });
  return { name, rounds, median: medians(rounds), beside: beside.join(', ') };
}

/** @param {Awaited<ReturnType<typeof compareRates>>} result */
export function ratesText({ events, players, partitions, rounds, rows }) {
  const head = ['', 'events/s', '(from', 'to)', 'CPU us', 'own', 'Redis', 'Kafka', 'RSS MB'];
  const lines = rows.map(({ name, median: all, rounds: each, beside }) => {
    const rates = each.map(({ rate }) => rate);
    return [
      ...[name, count(all.rate), count(Math.min(...rates)), count(Math.max(...rates))],
      ...[allCpu(all), all.own, all.redis, all.kafka].map((us) => count(us)),
      ...[count(all.rss), all.others.toFixed(2), beside],
    ];
  });
  return [
    `${count(events)} events, ${count(players)} players, ${partitions} partitions; median of ` +
      `the rounds (${rounds});`,
    'CPU per event: all = own process + Redis + Kafka; others: CPUs that all other processes ' +
      'used\n',
    table([[...head, 'others', ' rate beside'], ...lines]),
    '',
    ...rows.map(({ name, what }) => `${name}: ${what}`),
  ].join('\n');
}

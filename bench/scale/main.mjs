// @ts-check
// `npm run bench:scale -- [--events N] [--boards N] [--players N] [--partitions N] [--id-bytes N]
// [--processes N] [--rounds N] [--json]`: the same load on one Redis with 1 and 48 shards, and on
// clusters of 1, 2 and 3 nodes. Prints what an event costs.
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { median } from '../apply/measure.mjs';
import { count, table } from '../compare/table.mjs';
import { machine } from '../machine.mjs';
import { readOptions, wholeNumber } from '../options.mjs';
import { Contender } from './contender.mjs';
import { modelOf } from './model.mjs';

/** @typedef {import('./contender.mjs').Figures} Figures */

const values = readOptions('scale', {
  events: { type: 'string', default: '30000' },
  boards: { type: 'string', default: '100' },
  players: { type: 'string', default: '1000' },
  partitions: { type: 'string', default: '4' },
  'id-bytes': { type: 'string', default: '1' },
  processes: { type: 'string', default: '1' },
  rounds: { type: 'string', default: '7' },
  json: { type: 'boolean', default: false },
});
const load = {
  events: wholeNumber('events', values.events, { least: 10_000, most: 10_000_000 }),
  boards: wholeNumber('boards', values.boards, { least: 1, most: 10_000 }),
  players: wholeNumber('players', values.players, { least: 1, most: 1_000_000 }),
  views: 1,
  partitions: wholeNumber('partitions', values.partitions, { least: 1, most: 100 }),
  idBytes: wholeNumber('id-bytes', values['id-bytes'], { least: 1, most: 100 }),
};
const processes = wholeNumber('processes', values.processes, { least: 1, most: load.partitions });
const rounds = wholeNumber('rounds', values.rounds, { least: 1, most: 100 });

/** With as many players as all boards of the others. */
const oneBoard = { boards: 1, players: load.players * load.boards };
/** @type {import('./contender.mjs').Variant[]} */
const VARIANTS = [
  { name: '1 board, 4 views', nodes: 0, shards: 1, load: { ...oneBoard, views: 4 } },
  { name: '1 board', nodes: 0, shards: 1, load: oneBoard },
  { name: 'many boards, 4 views', nodes: 0, shards: 1, load: { views: 4 } },
  { name: 'one Redis, 1 shard', nodes: 0, shards: 1 },
  { name: 'one Redis, 48 shards', nodes: 0, shards: 48 },
  { name: 'cluster of 1, 48 shards', nodes: 1, shards: 48 },
  { name: 'cluster of 2, 48 shards', nodes: 2, shards: 48 },
  { name: 'cluster of 3, 48 shards', nodes: 3, shards: 48 },
];
/** CPU of the others is compared with that of one Redis with 48 shards. */
const BASE = 4;

const rows = await compare();
if (values.json)
  console.log(JSON.stringify({ machine: machine(), ...load, processes, rounds, rows }));
else print(rows);

/** The contenders take turns. Every second round goes the other way round. */
async function compare() {
  const contenders = VARIANTS.map(
    (variant) => new Contender(variant, { ...load, ...variant.load }),
  );
  const run = async () => {
    for (const contender of contenders) {
      await contender.start(processes);
      await contender.slice(); // node compiles its code
    }
    /** @type {Figures[][]} */
    const found = VARIANTS.map(() => []);
    const order = [...contenders.entries()];
    for (let round = 1; round <= rounds; round++) {
      for (const [index, contender] of round % 2 === 1 ? order : order.toReversed())
        found[index]?.push(await contender.slice());
      const us = found.map((all) => count(cpuOf(/** @type {Figures} */ (all.at(-1)))));
      process.stderr.write(`round ${round} of ${rounds}: ${us.join(', ')} us\n`);
    }
    const rows = [];
    for (const [index, contender] of order) {
      const all = found[index] ?? [];
      const base = found[BASE] ?? [];
      const growth = median(all.map((one, round) => cpuOf(one) / cpuOf(base[round] ?? one)));
      const figures = medians(all);
      const model = modelOf(contender.load, contender.variant.shards);
      const rest = await contender.end();
      rows.push({ name: contender.variant.name, growth, model, ...figures, ...rest });
    }
    return rows;
  };
  return withCleanUp(run, () => Promise.all(contenders.map((contender) => contender.remove())));
}

/** CPU per event without that of Kafka. @param {Pick<Figures, 'own' | 'redis'>} figures */
function cpuOf({ own, redis }) {
  return sum(own) + sum(redis);
}

/** The median of each figure. @param {Figures[]} all @returns {Figures} */
function medians(all) {
  const of = (/** @type {(figures: Figures) => number} */ figure) => median(all.map(figure));
  const each = (/** @type {'own' | 'redis'} */ what) =>
    (all[0]?.[what] ?? []).map((_, index) => of((figures) => figures[what][index] ?? NaN));
  return {
    own: each('own'),
    redis: each('redis'),
    kafka: of(({ kafka }) => kafka),
    calls: of(({ calls }) => calls),
    received: of(({ received }) => received),
    sent: of(({ sent }) => sent),
    written: of(({ written }) => written),
  };
}

/** @param {number[]} parts */
function sum(parts) {
  return parts.reduce((total, part) => total + part, 0);
}

/** @param {Awaited<ReturnType<typeof compare>>} all */
function print(all) {
  const { cpus, model, node, date } = machine();
  console.log(
    [
      `${count(load.events)} events a round, ${load.boards} boards of ${count(load.players)} ` +
        `players, ${load.partitions} partitions, ${processes} process(es); median of the rounds ` +
        `(${rounds}).`,
      'All servers share one machine, so CPU can be compared, but not rates.\n',
      'us of CPU per event: of each process of ranklog, of each Redis; times the CPU of ' +
        `"${VARIANTS[BASE]?.name}";`,
      'by ranklog size; calls to Redis per event\n',
      cpuTable(all),
      '\nbytes per event; of the memory of Redis per player and view\n',
      bytesTable(all),
      `\n${cpus} CPUs (${model}), node ${node}, ${date}`,
    ].join('\n'),
  );
}

/** @param {Awaited<ReturnType<typeof compare>>} all */
function cpuTable(all) {
  const parts = (/** @type {number[]} */ us) => us.map(count).join(' + ');
  const head = ['', 'ranklog', 'by size', 'Redis', 'by size', 'times', 'Kafka', 'calls', ''];
  const lines = all.map(({ name, own, redis, model, growth, kafka, calls }) => {
    const measured = [parts(own), count(model.own), parts(redis), count(model.redis)];
    return [name, ...measured, growth.toFixed(2), count(kafka), calls.toFixed(3), ''];
  });
  return table([head, ...lines]);
}

/** @param {Awaited<ReturnType<typeof compare>>} all */
function bytesTable(all) {
  const head = ['', 'to Redis', 'from', 'append-only file', 'event', 'result', 'player', ''];
  const lines = all.map(({ name, received, sent, written, score, result, memory }) => {
    return [name, ...[received, sent, written, score, result, memory].map(count), ''];
  });
  return table([head, ...lines]);
}

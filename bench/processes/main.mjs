// @ts-check
import os from 'node:os';
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { count, table } from '../compare/table.mjs';
import { machine } from '../machine.mjs';
import { readOptions, wholeNumber } from '../options.mjs';
import { withSandbox } from '../sandbox.mjs';
import { problems } from './check.mjs';
import { KafkaCluster } from './cluster.mjs';
import { FAULTS, measureFault } from './faults.mjs';
import { footprint } from './footprint.mjs';
import { ProcessGroup } from './group.mjs';
import { PartitionTraffic } from './traffic.mjs';

/** @typedef {import('./faults.mjs').Measured} Measured */
/** @typedef {import('./footprint.mjs').Footprint} Footprint */

const MOST_PROBLEMS = 20;

const values = readOptions('processes', {
  processes: { type: 'string', default: '8' },
  partitions: { type: 'string', default: '16' },
  rate: { type: 'string', default: '240' },
  only: { type: 'string', default: FAULTS.join(',') },
  json: { type: 'boolean', default: false },
});
const processes = wholeNumber('processes', values.processes, { least: 1, most: 100 });
const partitions = wholeNumber('partitions', values.partitions, { least: 1, most: 1_000 });
const rate = wholeNumber('rate', values.rate, { least: 1, most: 10_000 });
const faults = values.only.split(',').filter((name) => name !== '');
const unknown = faults.filter((name) => !FAULTS.includes(name));
if (unknown.length > 0) throw new Error(`--only ${unknown.join()}: use ${FAULTS.join()}`);

const cluster = new KafkaCluster();
const result = await withCleanUp(
  async () => {
    await cluster.start();
    process.env['KAFKA_BROKERS'] = cluster.addresses;
    return withSandbox(measure, { partitions });
  },
  () => cluster.end(),
);
console.log(values.json ? JSON.stringify(result) : textOf(result));
if (result.problems.length > 0) process.exitCode = 1;

/** @param {import('../sandbox.mjs').Sandbox} sandbox */
async function measure(sandbox) {
  const group = new ProcessGroup(sandbox);
  const traffic = new PartitionTraffic(sandbox, rate);
  const work = async () => {
    for (let number = 0; number < processes; number++) group.start();
    await group.settled();
    await traffic.open();
    await traffic.flows();
    const measured = [];
    for (const fault of faults) {
      process.stderr.write(`${fault} ...\n`);
      measured.push(await measureFault(fault, { group, traffic }));
    }
    const each = footprintOf(group);
    await traffic.finish();
    const events = traffic.events.flat().length;
    return { events, measured, footprint: each, problems: await problems(sandbox, traffic) };
  };
  const found = await withCleanUp(work, async () => {
    await traffic.close();
    await group.close();
  });
  return { processes, partitions, ...found, load: os.loadavg()[1] ?? NaN, machine: machine() };
}

/** @param {ProcessGroup} group */
function footprintOf(group) {
  const pids = group.processes.map(({ pid }) => pid);
  const redis = Number(new URL(process.env['REDIS_URL'] ?? '').port || 6379);
  return footprint(pids, { kafka: cluster.ports, redis });
}

/**
 * @param {{ events: number, measured: Measured[], footprint: Footprint, problems: string[], load:
 * number }} result
 */
function textOf({ events, measured, footprint: each, problems: found, load }) {
  const rows = measured.flatMap(({ name, steps, rebalance, moved, stayed }) =>
    Object.entries({ moved, stayed }).map(([kind, { partitions: number, median, worst }]) => [
      ...[name, count(steps), count(rebalance)],
      ...[count(number), count(median), count(worst), kind],
    ]),
  );
  const head = [
    '',
    'steps',
    'rebalance ms',
    'pauses',
    'median ms',
    'worst ms',
    'of partitions that',
  ];
  return [
    `${processes} processes, ${partitions} partitions, ${events} events at ${rate}/s; load ` +
      `average ${load.toFixed(1)}`,
    ...(rows.length > 0 ? [table([head, ...rows])] : []),
    `each process: RSS ${count(each.rss)} MB (most ${count(each.rssMost)} MB), ` +
      `connections to Kafka ${each.kafka}, to Redis ${each.redis}`,
    found.length === 0
      ? 'every event has exactly one result; the board has the order of the events'
      : [`${found.length} problems:`, ...found.slice(0, MOST_PROBLEMS)].join('\n'),
  ].join('\n');
}

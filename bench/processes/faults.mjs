// @ts-check
import { median } from '../apply/measure.mjs';

/**
 * @typedef {import('./group.mjs').ProcessGroup} ProcessGroup
 * @typedef {import('./traffic.mjs').PartitionTraffic} PartitionTraffic
 * @typedef {{ group: ProcessGroup, traffic: PartitionTraffic }} Scene
 * @typedef {{ partitions: number, median: number, worst: number }} Pauses in ms; a partition counts
 * once for each step
 * @typedef {{ name: string, steps: number, rebalance: number, moved: Pauses, stayed: Pauses }}
 * Measured rebalance: ms without a stable group, the median of the steps
 */

/** What happens to the processes, in this order. Each step ends when the group is settled again. */
export const FAULTS = ['roll', 'add', 'remove', 'kill', 'start', 'freeze', 'resume'];

/**
 * @type {Record<string, { name: string, steps: (group: ProcessGroup) => (() => Promise<void>)[] }>}
 */
const STEPS = {
  roll: {
    name: 'rolling deploy (SIGTERM, start)',
    steps: (group) =>
      group.processes.map((process) => async () => {
        await group.end(process, 'SIGTERM');
        group.start();
        await group.settled();
      }),
  },
  add: { name: 'a process is added', steps: (group) => [() => started(group)] },
  remove: {
    name: 'a process is ended (SIGTERM)',
    steps: (group) => [() => ended(group, 'SIGTERM')],
  },
  kill: {
    name: 'a process is killed (SIGKILL)',
    steps: (group) => [() => ended(group, 'SIGKILL')],
  },
  start: { name: 'it is started again', steps: (group) => [() => started(group)] },
  freeze: {
    name: 'a process is frozen (SIGSTOP)',
    steps: (group) => [
      () => {
        process.kill(last(group).pid, 'SIGSTOP');
        return group.settled(group.processes.length - 1);
      },
    ],
  },
  resume: {
    name: 'it is resumed (SIGCONT)',
    steps: (group) => [
      () => {
        process.kill(last(group).pid, 'SIGCONT');
        return group.settled();
      },
    ],
  },
};

/**
 * Runs the steps of a fault, and measures the pauses of the partitions in each.
 * @param {string} fault one of FAULTS @param {Scene} scene @returns {Promise<Measured>}
 */
export async function measureFault(fault, { group, traffic }) {
  const { name = fault, steps } = STEPS[fault] ?? {};
  /** @type {{ moved: number[], stayed: number[] }} */
  const pauses = { moved: [], stayed: [] };
  /** @type {number[]} */
  const rebalances = [];
  const all = steps?.(group) ?? [];
  for (const step of all) {
    group.takeChanges();
    const begin = performance.now();
    await step();
    await traffic.flows();
    const { moved, rebalanceMs } = group.takeChanges();
    rebalances.push(rebalanceMs);
    for (const [partition, pause] of traffic.pauses(begin, performance.now()).entries())
      pauses[moved.has(partition) ? 'moved' : 'stayed'].push(pause);
  }
  const { moved, stayed } = pauses;
  return {
    name,
    steps: all.length,
    rebalance: median(rebalances),
    moved: summary(moved),
    stayed: summary(stayed),
  };
}

/** @param {ProcessGroup} group */
async function started(group) {
  group.start();
  await group.settled();
}

/** @param {ProcessGroup} group @param {NodeJS.Signals} signal */
async function ended(group, signal) {
  await group.end(last(group), signal);
  await group.settled();
}

/** @param {ProcessGroup} group */
function last({ processes }) {
  const process = processes.at(-1);
  if (process === undefined) throw new Error('there are no processes');
  return process;
}

/** @param {number[]} pauses @returns {Pauses} */
function summary(pauses) {
  return {
    partitions: pauses.length,
    median: pauses.length === 0 ? NaN : median(pauses),
    worst: pauses.length === 0 ? NaN : Math.max(...pauses),
  };
}

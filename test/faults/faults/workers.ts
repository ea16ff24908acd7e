import { eventually } from '../../support/eventually.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import { pick, type Random } from '../random.js';
import type { Worker } from '../world/worker.js';
import { MAX_WORKERS, type World } from '../world/world.js';
import type { Fault } from './fault.js';

/** Starts workers until two are running, so that one can take over from the other. */
export async function ensureTwo(world: World): Promise<void> {
  while (world.running.length < 2) await addWorker(world);
}

export async function addWorker(world: World): Promise<void> {
  const worker = await world.addWorker();
  world.did('workers added', `worker ${worker.name} added`);
}

export async function killWorker(world: World, victim: Worker): Promise<void> {
  await victim.end('SIGKILL');
  world.did('kills', `worker ${victim.name} killed`);
}

/** @throws unless the worker ends with exit code 0 */
export async function terminate(world: World, victim: Worker): Promise<void> {
  const code = await victim.end('SIGTERM');
  if (code !== 0)
    throw new Error(`worker ${victim.name} ended by SIGTERM with ${code}:\n${victim.lastLines}`);
  world.did('terminations', `worker ${victim.name} terminated`);
}

/**
 * Pauses a worker, does something else, and resumes the worker once other workers publish in its
 * partitions.
 */
export async function asZombie(
  world: World,
  random: Random,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await ensureTwo(world);
  const victim = pick(random, world.running);
  await victim.publishes();
  victim.pause();
  world.note(`worker ${victim.name} stopped`);
  await meanwhile();
  await world.publishedEverywhere();
  victim.resume();
  world.did('zombies', `worker ${victim.name} continued: other workers had its partitions`);
}

/** One of the workers, or all of them. */
export function someWorkers(world: World, random: Random): readonly Worker[] {
  return random() < 0.5 ? [pick(random, world.running)] : world.running;
}

export const WORKER_FAULTS: readonly Fault[] = [
  {
    name: 'kill-worker',
    async run(world, random) {
      const victim = pick(random, world.running);
      await victim.publishes();
      await killWorker(world, victim);
      await addWorker(world);
    },
  },
  {
    name: 'add-worker',
    async run(world, random) {
      if (world.running.length >= MAX_WORKERS) await terminate(world, pick(random, world.running));
      await addWorker(world);
    },
  },
  {
    name: 'terminate-worker',
    async run(world, random) {
      await ensureTwo(world);
      await terminate(world, pick(random, world.running));
    },
  },
  { name: 'zombie', run: (world, random) => asZombie(world, random, () => Promise.resolve()) },
  {
    name: 'leave-transaction-open',
    async run(world, random) {
      const victim = pick(random, world.running);
      const [action, when, what] = pick(random, [
        ['hangBefore', 'before its commit', 'transactions left open'],
        ['hangAfter', 'before the response to its commit', 'commits without a response'],
      ] as const);
      const commit = victim.kafka.onRequest(KAFKA_API.endTxn, action);
      await eventually(() => commit.isDone, `worker ${victim.name} commits`);
      await killWorker(world, victim);
      world.did(what, `that was ${when}`);
      await addWorker(world);
    },
  },
];

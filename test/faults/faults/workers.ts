import { pick, type Random } from '../load.js';
import { MOST_WORKERS, type World } from '../world/world.js';
import type { Worker } from '../world/worker.js';
import type { Fault } from './fault.js';

/** Two workers at least, so that somebody can take over. */
export async function ensureTwo(world: World): Promise<void> {
  while (world.running.length < 2) await add(world);
}

export async function add(world: World): Promise<Worker> {
  const worker = await world.addWorker();
  world.count('workers added');
  world.note(`worker ${worker.name} added`);
  return worker;
}

export async function kill(world: World, victim: Worker): Promise<void> {
  await victim.end('SIGKILL');
  world.count('kills');
  world.note(`worker ${victim.name} killed`);
}

async function terminate(world: World, victim: Worker): Promise<void> {
  const code = await victim.end('SIGTERM');
  if (code !== 0)
    throw new Error(`worker ${victim.name} ended by SIGTERM with ${code}:\n${victim.lastLines}`);
  world.count('terminations');
  world.note(`worker ${victim.name} terminated`);
}

/** A place for one more. */
async function makeRoom(world: World, random: Random): Promise<void> {
  if (world.running.length >= MOST_WORKERS) await terminate(world, pick(random, world.running));
}

export const killWorker: Fault = {
  name: 'kill-worker',
  does: 'SIGKILL to a worker; another one starts',
  async run(world, random) {
    const victim = pick(random, world.running);
    await victim.publishes();
    await kill(world, victim);
    await add(world);
  },
};

export const addWorker: Fault = {
  name: 'add-worker',
  does: 'one more worker, for which another one leaves by SIGTERM where there are three',
  async run(world, random) {
    await makeRoom(world, random);
    await add(world);
    await world.publishedMore(20);
  },
};

export const terminateWorker: Fault = {
  name: 'terminate-worker',
  does: 'SIGTERM to a worker under load, which has to end with exit code 0',
  async run(world, random) {
    await ensureTwo(world);
    await terminate(world, pick(random, world.running));
    await world.publishedMore(20);
  },
};

/** Stops a worker, does something else, and lets it go on once others publish its partitions. */
export async function asZombie(
  world: World,
  random: Random,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await ensureTwo(world);
  const victim = pick(random, world.running);
  await victim.publishes();
  victim.stop();
  world.note(`worker ${victim.name} stopped`);
  await meanwhile();
  await world.publishedEverywhere();
  victim.resume();
  world.count('zombies');
  world.note(`worker ${victim.name} continued: others had its partitions`);
  await world.publishedMore(20);
}

export const zombie: Fault = {
  name: 'zombie',
  does: 'SIGSTOP to a worker; SIGCONT once others publish its partitions',
  run: (world, random) => asZombie(world, random, () => Promise.resolve()),
};

export const WORKER_FAULTS: readonly Fault[] = [killWorker, addWorker, terminateWorker, zombie];

/** One of the workers, or all of them. */
export function someWorkers(world: World, random: Random): readonly Worker[] {
  return random() < 0.5 ? [pick(random, world.running)] : world.running;
}

export function namesOf(workers: readonly Worker[]): string {
  return workers.map(({ name }) => name).join(', ');
}

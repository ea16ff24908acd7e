import { eventually } from '../../support/eventually.js';
import { below, pick, type Random } from '../random.js';
import type { World } from '../world/world.js';
import { change, changeBack } from './builds.js';
import type { Fault } from './fault.js';
import { restartEmpty } from './servers.js';
import { addWorker, killWorker } from './workers.js';

/**
 * Faults of `ranklog dead-letters retry` under load, which has some dead letters whose retries
 * count.
 */

/** Exit codes of a retry that is done: 1 if some dead letters would be refused again. */
const DONE = [0, 1];

/** Retries all dead letters. @throws if the command fails */
export async function retryAll(world: World): Promise<void> {
  const answer = await world.retry().output(DONE);
  const { sent, retried, accepted } = JSON.parse(answer) as Record<string, number>;
  world.note(`dead letters retried: ${sent}; before: ${retried}; not needed: ${accepted}`);
}

/**
 * Starts retries, two of them at once or one, and kills them at random moments while `work` is
 * under way.
 */
async function retriesDuring(
  world: World,
  random: Random,
  work: () => Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const done = work().finally(() => {
    over.abort();
  });
  done.catch(() => undefined); // awaited below
  while (!over.signal.aborted) {
    const commands = Array.from({ length: 1 + below(random, 2) }, () => world.retry());
    const end = performance.now() + below(random, MOST_MS);
    await eventually(
      () => performance.now() > end || commands.every(({ hasEnded }) => hasEnded),
      'the retries have ended, or are to be killed',
    );
    await Promise.all(commands.map((command) => command.kill()));
    world.count('retries of dead letters', commands.length);
  }
  await done;
}

/** Longer than a retry takes: some end by themselves. */
const MOST_MS = 4_000;

export const RETRY_FAULTS: readonly Fault[] = [
  {
    name: 'kill-retries',
    async run(world, random) {
      await retriesDuring(world, random, async () => {
        const victim = pick(random, world.running);
        await victim.publishes();
        await killWorker(world, victim);
        await addWorker(world);
      });
      await retryAll(world);
    },
  },
  {
    name: 'change-while-retrying',
    async run(world, random) {
      await retriesDuring(world, random, () => change(world, random));
      await retryAll(world);
      await retriesDuring(world, random, () => changeBack(world));
      await retryAll(world);
    },
  },
  {
    name: 'lose-while-retrying',
    async run(world, random) {
      await retryAll(world);
      await change(world, random);
      await retriesDuring(world, random, async () => {
        await restartEmpty(world);
        await world.publishedEverywhere();
      });
      await retryAll(world);
      await changeBack(world);
    },
  },
];

import { pick } from '../load.js';
import { eventually } from '../../support/eventually.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { loseAll } from './redis-server.js';
import { add, asZombie, kill } from './workers.js';

/** Faults that meet: what one of them recovers from, the other one disturbs. */

const SLOW_MS = 100;

/** Loses all, and does something else while the boards are built again from the log, which is made to take a while. */
async function whileRecovering(world: World, work: () => Promise<void>): Promise<void> {
  for (const { redis } of world.running) redis.delay(SLOW_MS);
  await loseAll(world);
  await beginsToRecover(world);
  await work();
  for (const { redis } of world.running) redis.delay(0);
}

/** Waits until the first applied offsets are there. */
async function beginsToRecover(world: World): Promise<void> {
  const shards = Array.from({ length: world.shards }, (_, shard) =>
    world.keys.appliedOffsets(shard),
  );
  await eventually(
    async () => (await world.redis.redis.exists(...shards)) > 0,
    'the boards are being built again',
  );
}

export const zombieThroughLoss: Fault = {
  name: 'zombie-through-loss',
  does: 'SIGSTOP to a worker; Redis comes back empty; SIGCONT once others have recovered it and publish the partitions',
  async run(world, random) {
    await asZombie(world, random, async () => {
      await loseAll(world);
      world.note('Redis restarted empty');
    });
  },
};

export const loseWhileRecovering: Fault = {
  name: 'lose-while-recovering',
  does: 'Redis comes back empty, and once more while the boards are built again',
  async run(world) {
    await whileRecovering(world, () => loseAll(world));
    world.note('Redis restarted empty, and again while the boards were built');
    await world.publishedMore(20);
  },
};

export const killWhileRecovering: Fault = {
  name: 'kill-while-recovering',
  does: 'Redis comes back empty, and a worker is killed while the boards are built again',
  async run(world, random) {
    await whileRecovering(world, () => kill(world, pick(random, world.running)));
    world.note('that was while the boards were built again');
    await add(world);
    await world.publishedMore(20);
  },
};

export const loseWithoutKafka: Fault = {
  name: 'lose-without-kafka',
  does: 'the broker is killed, Redis comes back empty, and only then the broker is back',
  async run(world) {
    await world.kafka.kill();
    await loseAll(world);
    world.note('the broker is killed; Redis restarted empty');
    await world.kafka.up();
    world.count('broker kills');
    world.note('the broker is back');
    await world.publishedMore(20, 120);
  },
};

export const FAULTS_TOGETHER: readonly Fault[] = [
  zombieThroughLoss,
  loseWhileRecovering,
  killWhileRecovering,
  loseWithoutKafka,
];

import { below } from '../load.js';
import { eventually } from '../../support/eventually.js';
import type { Worker } from '../world/worker.js';
import type { Fault } from './fault.js';
import { namesOf, someWorkers } from './workers.js';

/** Does harm to workers until each of them has said `words` once more, then repairs it. */
async function untilSaid(
  workers: readonly Worker[],
  words: string,
  { harm, repair }: { harm: (worker: Worker) => void; repair: (worker: Worker) => void },
): Promise<void> {
  const before = new Map(workers.map((worker) => [worker, worker.count(words)]));
  for (const worker of workers) harm(worker);
  try {
    for (const worker of workers)
      await eventually(
        () => worker.count(words) > (before.get(worker) ?? 0),
        `worker ${worker.name} says: ${words}`,
      );
  } finally {
    for (const worker of workers) repair(worker);
  }
}

/** What a worker says when it gives up a partition for the moment. */
const STARTS_AGAIN = ' starts again in ';

export const cutRedis: Fault = {
  name: 'cut-redis',
  does: 'connections to Redis end, and new ones are refused until the workers know',
  async run(world, random) {
    const workers = someWorkers(world, random);
    await untilSaid(workers, 'Redis is away', {
      harm: ({ redis }) => redis.cut(),
      repair: ({ redis }) => redis.restore(),
    });
    world.count('cuts');
    world.note(`Redis was cut off from ${namesOf(workers)}`);
    await world.publishedMore(20);
  },
};

export const breakRedis: Fault = {
  name: 'break-redis',
  does: 'connections to Redis end a few times, while new ones are welcome',
  async run(world, random) {
    const times = 1 + below(random, 4);
    for (let time = 0; time < times; time++) {
      for (const { redis } of world.running) redis.breakAll();
      await world.publishedMore(1 + below(random, 60));
    }
    world.count('cuts', times);
    world.note(`connections to Redis broken ${times} times`);
  },
};

export const freezeRedis: Fault = {
  name: 'freeze-redis',
  does: 'connections to Redis are half-open until commands time out; what was held back arrives afterwards',
  async run(world, random) {
    const workers = someWorkers(world, random);
    for (const worker of workers) await worker.publishes();
    await untilSaid(workers, STARTS_AGAIN, {
      harm: ({ redis }) => redis.freeze(),
      repair: ({ redis }) => redis.thaw(),
    });
    world.count('freezes');
    world.note(`connections of ${namesOf(workers)} to Redis were half-open`);
    await world.publishedMore(20);
  },
};

export const swallowRedis: Fault = {
  name: 'swallow-redis',
  does: 'what Redis is told, it does, but its answers are lost with the connection',
  async run(world, random) {
    const workers = someWorkers(world, random);
    for (const worker of workers) await worker.publishes();
    await untilSaid(workers, STARTS_AGAIN, {
      harm: ({ redis }) => redis.dropReplies(),
      repair: ({ redis }) => redis.restore(),
    });
    world.count('swallowed answers of Redis');
    world.note(`answers of Redis to ${namesOf(workers)} were swallowed`);
    await world.publishedMore(20);
  },
};

export const delayRedis: Fault = {
  name: 'delay-redis',
  does: 'bytes to and from Redis arrive up to 0.2 s late',
  async run(world, random) {
    const workers = someWorkers(world, random);
    const ms = 10 + below(random, 190);
    for (const { redis } of workers) redis.delay(ms);
    await world.publishedMore(100);
    for (const { redis } of workers) redis.delay(0);
    world.count('delays');
    world.note(`Redis was ${ms} ms late for ${namesOf(workers)}`);
  },
};

export const REDIS_NETWORK_FAULTS: readonly Fault[] = [
  cutRedis,
  breakRedis,
  freezeRedis,
  swallowRedis,
  delayRedis,
];

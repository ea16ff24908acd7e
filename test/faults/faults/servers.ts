import { eventually } from '../../support/eventually.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { below, pick, type Random } from '../random.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { addWorker, asZombie, ensureTwo, killWorker } from './workers.js';

/**
 * Kills Redis and restarts it empty; of a cluster or with sentinels, deletes all data of a primary.
 */
export async function restartEmpty(world: World): Promise<void> {
  if (world.kind !== 'single') return deleteData(world);
  await world.server.kill();
  world.recordLoss();
  await world.server.startEmpty();
  world.did('losses of all of Redis', 'Redis restarted empty');
}

/** A primary that restarted empty would give way to its replica. */
async function deleteData(world: World): Promise<void> {
  const primaries = await world.redis.primaries();
  const primary = primaries[world.losses.length % primaries.length];
  if (primary === undefined) throw new Error('there is no primary');
  const [, time] = (await primary.multi().flushall().time().exec()) ?? [];
  world.recordLoss(microsecondsOf(time?.[1]));
  world.did('losses of the data of a primary', 'a primary lost its data');
}

/** The answer of Redis to TIME, in us since 1970. */
export function microsecondsOf(time: unknown): number {
  const [seconds, micros] = time as [string, string];
  return Number(seconds) * 1_000_000 + Number(micros);
}

/** Kills Redis and restarts it from the last saved copy of its data. */
export async function restoreSnapshot(world: World): Promise<void> {
  await world.server.kill();
  world.recordLoss();
  await world.server.startFromSnapshot();
  world.did('restores of a snapshot', 'Redis restored from a snapshot');
}

/**
 * Promotes a replica that lacks the last published records, before `replace` makes workers use it;
 * returns how many it lacks.
 */
async function promoteLagging(
  world: World,
  random: Random,
  replace: (replica: RedisServer) => Promise<void>,
): Promise<number> {
  const link = await TcpProxy.to({ host: '127.0.0.1', port: world.server.port });
  try {
    const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(link.port));
    await eventually(
      async () => /master_link_status:up/.test(await replica.redis.info('replication')),
      'the replica has all data of the primary',
    );
    link.freeze();
    const behind = 1 + below(random, 200);
    await world.publishedMore(behind);
    await replica.redis.replicaof('NO', 'ONE');
    await replace(replica);
    return behind;
  } finally {
    await link.close();
  }
}

/** A delay that makes a recovery last long enough to be disturbed. */
const SLOW_MS = 100;

/** Restarts Redis empty, and does something else while the boards recover. */
async function whileRecovering(world: World, work: () => Promise<void>): Promise<void> {
  for (const { redis } of world.running) redis.delay(SLOW_MS);
  await restartEmpty(world);
  const shards = Array.from({ length: world.shards }, (_, it) => world.keys.appliedOffsets(it));
  await eventually(
    async () => (await world.redis.redis.exists(...shards)) > 0,
    'Redis has some applied offset again',
  );
  await work();
  for (const { redis } of world.running) redis.delay(0);
}

async function restartBroker(world: World, meanwhile: () => Promise<void>): Promise<void> {
  await world.kafka.kill();
  world.note('the broker is killed');
  await meanwhile();
  await world.kafka.up();
  world.did('broker kills', 'the broker is back');
}

export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'flush-scripts',
    async run(world, random) {
      const times = 1 + below(random, 5);
      for (let time = 0; time < times; time++) {
        for (const primary of await world.redis.primaries()) await primary.script('FLUSH');
        await world.publishedMore(1 + below(random, 40));
      }
      world.did('script flushes', `scripts flushed ${times} times`, times);
    },
  },
  {
    name: 'fill-memory',
    async run(world, random) {
      const redis = pick(random, await world.redis.primaries());
      const logged = () => world.running.reduce((sum, worker) => sum + worker.count('OOM'), 0);
      const before = logged();
      await redis.config('SET', 'maxmemory', '1mb');
      try {
        await eventually(() => logged() > before, 'a worker logs that Redis is full');
      } finally {
        await redis.config('SET', 'maxmemory', '0');
      }
      world.did('times out of memory', 'Redis was full');
    },
  },
  {
    name: 'restart-redis',
    redis: ['single'],
    async run(world) {
      await world.server.kill();
      await world.server.start();
      world.did('restarts of Redis', 'Redis restarted with its data');
    },
  },
  { name: 'empty-redis', run: restartEmpty },
  {
    name: 'restore-redis',
    redis: ['single'],
    async run(world, random) {
      await world.server.snapshot();
      await world.publishedMore(1 + below(random, 300));
      await restoreSnapshot(world);
    },
  },
  {
    name: 'fail-over',
    redis: ['single'],
    async run(world, random) {
      const behind = await promoteLagging(world, random, (replica) => world.failOver(replica));
      world.did('failovers', `failed over to a replica that was ${behind} records behind`);
    },
  },
  {
    name: 'demote-redis',
    redis: ['single'],
    async run(world, random) {
      const demoted = world.server;
      const isCutOff = random() < 0.5;
      const behind = await promoteLagging(world, random, (it) => world.demote(it, isCutOff));
      const where = isCutOff ? ', cut off from the new primary' : '';
      const note = `demoted Redis${where}, without closed connections`;
      world.did('changes of role', `${note}; the new primary was ${behind} records behind`);
      await world.publishedEverywhere();
      // Also connections that only read must leave.
      await eventually(
        async () => (await demoted.otherClients()).length === 0,
        'no worker is connected to the replica',
      );
    },
  },
  {
    name: 'lose-unpublished',
    async run(world, random) {
      await ensureTwo(world);
      const victim = pick(random, world.running);
      const commit = victim.kafka.onRequest(KAFKA_API.endTxn, { delayMs: 1_500 });
      await eventually(() => commit.isDone, `worker ${victim.name} commits`);
      await world.publishedMore(40);
      await restartEmpty(world);
      world.note(`that was while ${victim.name} waited for a commit`);
    },
  },
  {
    name: 'zombie-through-loss',
    run: (world, random) => asZombie(world, random, () => restartEmpty(world)),
  },
  {
    name: 'lose-while-recovering',
    redis: ['single'],
    run: (world) => whileRecovering(world, () => restartEmpty(world)),
  },
  {
    name: 'kill-while-recovering',
    redis: ['single'],
    async run(world, random) {
      await whileRecovering(world, () => killWorker(world, pick(random, world.running)));
      await addWorker(world);
    },
  },
  { name: 'kill-kafka', run: (world) => restartBroker(world, () => Promise.resolve()) },
  { name: 'lose-without-kafka', run: (world) => restartBroker(world, () => restartEmpty(world)) },
];

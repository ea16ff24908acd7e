import { KAFKA_API } from '../../support/kafka-frames.js';
import { below, pick } from '../load.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import type { World } from '../world/world.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import type { Fault } from './fault.js';
import { ensureTwo } from './workers.js';

export const flushScripts: Fault = {
  name: 'flush-scripts',
  does: 'SCRIPT FLUSH, a few times',
  async run(world, random) {
    const times = 1 + below(random, 5);
    for (let time = 0; time < times; time++) {
      await world.redis.redis.script('FLUSH');
      await world.publishedMore(1 + below(random, 40));
    }
    world.count('script flushes', times);
    world.note(`scripts flushed ${times} times`);
  },
};

export const fillMemory: Fault = {
  name: 'fill-memory',
  does: 'maxmemory is reached, so that Redis refuses to write, until a worker says so',
  async run(world) {
    const { redis } = world.redis;
    const said = () => world.running.reduce((sum, worker) => sum + worker.count('OOM'), 0);
    const before = said();
    await redis.config('SET', 'maxmemory', '1mb');
    try {
      await eventually(() => said() > before, 'a worker says that Redis is full');
    } finally {
      await redis.config('SET', 'maxmemory', '0');
    }
    world.count('times out of memory');
    world.note('Redis was full');
    await world.publishedMore(20);
  },
};

export const restartRedis: Fault = {
  name: 'restart-redis',
  does: 'Redis is killed and comes back with all that it had',
  async run(world) {
    await world.redis.kill();
    await world.redis.start();
    world.count('restarts of Redis');
    world.note('Redis restarted with its data');
    await world.publishedMore(20);
  },
};

/** Redis is killed, and comes back empty. */
export async function loseAll(world: World): Promise<void> {
  await world.redis.kill();
  world.hasLost();
  await world.redis.startEmpty();
  world.count('losses of all of Redis');
}

export const emptyRedis: Fault = {
  name: 'empty-redis',
  does: 'Redis is killed and comes back empty',
  async run(world) {
    await loseAll(world);
    world.note('Redis restarted empty');
    await world.publishedMore(20);
  },
};

export const restoreRedis: Fault = {
  name: 'restore-redis',
  does: 'Redis is killed under load and comes back from an older snapshot',
  async run(world, random) {
    await world.redis.snapshot();
    const since = 1 + below(random, 300);
    await world.publishedMore(since);
    await world.redis.kill();
    world.hasLost();
    await world.redis.startFromSnapshot();
    world.count('restores of a snapshot');
    world.note(`Redis restored from a snapshot that was ${since} records old`);
    await world.publishedMore(20);
  },
};

export const failOver: Fault = {
  name: 'fail-over',
  does: 'a replica that has fallen behind takes the place of Redis',
  async run(world, random) {
    const link = await TcpProxy.to({ host: '127.0.0.1', port: world.redis.port });
    try {
      const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(link.port));
      await eventually(
        async () => /master_link_status:up/.test(await replica.redis.info('replication')),
        'the replica has all of the primary',
      );
      link.freeze();
      const behind = 1 + below(random, 200);
      await world.publishedMore(behind);
      await replica.redis.replicaof('NO', 'ONE');
      await world.failOver(replica);
      world.count('failovers');
      world.note(`failed over to a replica that was ${behind} records behind`);
    } finally {
      await link.close();
    }
    await world.publishedMore(20);
  },
};

export const loseUnpublished: Fault = {
  name: 'lose-unpublished',
  does: 'a worker waits for a commit while others go on; then Redis comes back empty, and what it had applied is lost',
  async run(world, random) {
    await ensureTwo(world);
    const victim = pick(random, world.running);
    const commit = victim.kafka.onRequest(KAFKA_API.endTxn, { delayMs: 1_500 });
    await eventually(() => commit.isDone, `worker ${victim.name} commits`);
    await world.publishedMore(40);
    await loseAll(world);
    world.note(`Redis restarted empty while ${victim.name} waited for a commit`);
    await world.publishedMore(20);
  },
};

export const REDIS_SERVER_FAULTS: readonly Fault[] = [
  flushScripts,
  fillMemory,
  restartRedis,
  emptyRedis,
  restoreRedis,
  failOver,
  loseUnpublished,
];

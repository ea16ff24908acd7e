import { eventually } from '../../support/eventually.js';
import { KAFKA_ERROR } from '../../support/kafka-error-answers.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import type { KafkaAction } from '../../support/kafka-proxy.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import { below, pick, type Random } from '../random.js';
import type { Worker } from '../world/worker.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { ensureTwo, someWorkers } from './workers.js';

type Server = 'redis' | 'kafka';
type Change = (proxy: TcpProxy) => void;

const NAMES: Readonly<Record<Server, string>> = { redis: 'Redis', kafka: 'Kafka' };

function namesOf(workers: readonly Worker[]): string {
  return workers.map(({ name }) => name).join(', ');
}

/** There are proxies before each Kafka, but only before a single Redis. */
function proxied(server: Server): Pick<Fault, 'redis'> {
  return server === 'redis' ? { redis: ['single'] } : {};
}

/** Closes the connections of all workers a few times; new connections are accepted. */
function breakConnections(server: Server): Fault {
  return {
    name: `break-${server}`,
    ...proxied(server),
    async run(world, random) {
      const times = 1 + below(random, 4);
      for (let time = 0; time < times; time++) {
        for (const worker of world.running) worker[server].breakAll();
        await world.publishedMore(1 + below(random, 60));
      }
      world.did('cuts', `connections to ${NAMES[server]} broken ${times} times`, times);
    },
  };
}

function delayBytes(server: Server): Fault {
  return {
    name: `delay-${server}`,
    ...proxied(server),
    async run(world, random) {
      const workers = someWorkers(world, random);
      const ms = 10 + below(random, 190);
      for (const worker of workers) worker[server].delay(ms);
      await world.publishedMore(100);
      for (const worker of workers) worker[server].delay(0);
      world.did('delays', `${NAMES[server]} was ${ms} ms late for ${namesOf(workers)}`);
    },
  };
}

interface RedisDisturbance {
  readonly what: string;
  readonly logged: string;
  readonly harm: Change;
  readonly repair: Change;
  readonly before?: (worker: Worker) => Promise<void>;
}

/**
 * Loses the reply to an apply call that Redis has executed; the worker sends the call again on the
 * next connection.
 */
async function loseReplyToApplyCall({ name, redis }: Worker): Promise<void> {
  const lost = redis.droppedReplies;
  redis.dropReplies((request) => request.includes('evalsha') && request.includes('player'));
  await eventually(
    () => redis.droppedReplies > lost,
    `worker ${name} loses the reply to an apply call`,
  );
  redis.restore();
}

/**
 * Disturbs the connections of some workers to Redis until each worker has logged `logged` once
 * more.
 */
function disturbRedis(
  name: string,
  { what, logged, harm, repair, before }: RedisDisturbance,
): Fault {
  return {
    name,
    redis: ['single'],
    async run(world, random) {
      const workers = someWorkers(world, random);
      for (const worker of workers) {
        await worker.publishes();
        await before?.(worker);
      }
      const counts = new Map(workers.map((worker) => [worker, worker.count(logged)]));
      for (const { redis } of workers) harm(redis);
      try {
        for (const worker of workers)
          await eventually(
            () => worker.count(logged) > (counts.get(worker) ?? 0),
            `worker ${worker.name} logs "${logged}"`,
          );
      } finally {
        for (const { redis } of workers) repair(redis);
      }
      world.did(what, `${what} between Redis and ${namesOf(workers)}`);
    },
  };
}

/**
 * Disturbs the connections of a worker to Kafka until other workers have taken over its partitions.
 */
function disturbKafka(
  name: string,
  { what, harm, repair }: { what: string; harm: Change; repair: Change },
): Fault {
  return {
    name,
    async run(world, random) {
      await ensureTwo(world);
      const victim = pick(random, world.running);
      await victim.publishes();
      harm(victim.kafka);
      try {
        await world.publishedEverywhere();
      } finally {
        repair(victim.kafka);
      }
      world.did(what, `${what} between Kafka and ${victim.name}`);
    },
  };
}

/**
 * Disturbs requests of transactions a few times: each time, the next such request of any worker.
 */
function disturbTransactions(
  name: string,
  draw: {
    readonly most: number;
    readonly apis: readonly number[];
    readonly action: (random: Random) => KafkaAction;
    readonly what: string;
  },
): Fault {
  return {
    name,
    async run(world: World, random: Random) {
      const times = 1 + below(random, draw.most);
      for (let time = 0; time < times; time++) {
        const api = pick(random, draw.apis);
        const action = draw.action(random);
        const [apiName = ''] = Object.entries(KAFKA_API).find(([, key]) => key === api) ?? [];
        const faults = world.running.map(({ kafka }) => kafka.onRequest(api, action));
        await eventually(() => faults.some(({ isDone }) => isDone), `${apiName} is disturbed`);
        for (const { kafka } of world.running) kafka.clearFaults();
        await world.publishedMore(1 + below(random, 40));
      }
      world.did(draw.what, `${times} ${draw.what}`, times);
    },
  };
}

/**
 * Makes the next broker the leader of each partition of the topics, and the broker after that its
 * follower; then the leader before, too, if it had two.
 */
async function moveLeaders(world: World): Promise<void> {
  const { admin, topics, kafka } = world;
  const brokers = kafka.ports.length;
  const read = () => admin.fetchTopicMetadata({ topics: Object.values(topics) });
  const before = (await read()).topics;
  const assign = (replicas: number) =>
    before.map(({ name, partitions }) => ({
      topic: name,
      partitionAssignment: partitions.map(({ partitionId, leader }) => ({
        partition: partitionId,
        replicas: [leader, leader + 1, leader + 2]
          .map((broker) => (broker % brokers) + 1)
          .slice(0, replicas),
      })),
    }));
  const moved = assign(2);
  await admin.alterPartitionReassignments({ topics: moved });
  await world.breakRedis(); // so that partitions start again as their leaders move
  await eventually(async () => {
    const now = await read();
    return moved.every(({ topic, partitionAssignment }) => {
      const found = now.topics.find(({ name }) => name === topic)?.partitions ?? [];
      return partitionAssignment.every(({ partition, replicas: [wanted] }) =>
        found.some(({ partitionId, leader }) => partitionId === partition && leader === wanted),
      );
    });
  }, 'the leaders of all partitions have moved');
  const replicas = Math.max(
    ...before.flatMap(({ partitions }) => partitions.map((it) => it.replicas.length)),
  );
  if (replicas > 2) await admin.alterPartitionReassignments({ topics: assign(replicas) });
}

const { addPartitionsToTxn, produce, addOffsetsToTxn, txnOffsetCommit, endTxn } = KAFKA_API;
/** A worker logs this when it starts a partition again. */
const STARTS_AGAIN = ' starts again in ';

export const NETWORK_FAULTS: readonly Fault[] = [
  disturbRedis('cut-redis', {
    what: 'cuts',
    logged: 'Redis connection lost',
    harm: (redis) => redis.cut(),
    repair: (redis) => redis.restore(),
  }),
  disturbRedis('freeze-redis', {
    what: 'freezes',
    logged: STARTS_AGAIN,
    harm: (redis) => redis.freeze(),
    repair: (redis) => redis.thaw(),
  }),
  disturbRedis('swallow-redis', {
    what: 'lost replies',
    logged: STARTS_AGAIN,
    harm: (redis) => redis.dropReplies(),
    repair: (redis) => redis.restore(),
    before: loseReplyToApplyCall,
  }),
  breakConnections('redis'),
  delayBytes('redis'),
  disturbKafka('cut-kafka', {
    what: 'cuts',
    harm: (kafka) => kafka.cut(),
    repair: (kafka) => kafka.restore(),
  }),
  disturbKafka('freeze-kafka', {
    what: 'freezes',
    harm: (kafka) => kafka.freeze(),
    repair: (kafka) => kafka.thaw(),
  }),
  breakConnections('kafka'),
  delayBytes('kafka'),
  disturbTransactions('swallow-kafka', {
    most: 4,
    apis: [addPartitionsToTxn, produce, addOffsetsToTxn, txnOffsetCommit, endTxn],
    action: () => 'swallowReply',
    what: 'lost responses to requests of transactions',
  }),
  disturbTransactions('coordinator-errors', {
    most: 6,
    apis: [addPartitionsToTxn, addOffsetsToTxn, endTxn],
    action: (random) => {
      const { coordinatorLoadInProgress, coordinatorNotAvailable } = KAFKA_ERROR;
      const { notCoordinator, concurrentTransactions } = KAFKA_ERROR;
      const errors = [
        coordinatorLoadInProgress,
        coordinatorNotAvailable,
        notCoordinator,
        concurrentTransactions,
      ];
      return { error: pick(random, errors), executed: random() < 0.5 };
    },
    what: 'coordinator errors',
  }),
  {
    name: 'move-leader',
    brokers: 3,
    async run(world, random) {
      const times = 1 + below(random, 3);
      for (let time = 0; time < times; time++) {
        await moveLeaders(world);
        await world.publishedMore(1 + below(random, 60));
      }
      world.did('moves of leaders', `the leaders of all partitions moved ${times} times`, times);
    },
  },
];

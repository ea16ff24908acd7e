import { KAFKA_ERROR } from '../../support/kafka-error-answers.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import { below, pick, type Random } from '../load.js';
import { eventually } from '../../support/eventually.js';
import type { Worker } from '../world/worker.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { add, ensureTwo, kill, namesOf, someWorkers } from './workers.js';

export const killKafka: Fault = {
  name: 'kill-kafka',
  does: 'the broker is killed and started again',
  async run(world) {
    await world.kafka.kill();
    world.note('the broker is killed');
    await world.kafka.up();
    world.count('broker kills');
    world.note('the broker is back');
    await world.publishedMore(20, 120);
  },
};

/** Makes the next broker the leader of each partition of the run, and the one behind that its follower. */
async function moveLeaders({ admin, topics, kafka, running }: World): Promise<void> {
  const brokers = kafka.ports.length;
  const metadata = await admin.fetchTopicMetadata({ topics: Object.values(topics) });
  const moved = metadata.topics.map(({ name, partitions }) => ({
    topic: name,
    partitionAssignment: partitions.map(({ partitionId, leader }) => ({
      partition: partitionId,
      replicas: [(leader % brokers) + 1, ((leader + 1) % brokers) + 1],
    })),
  }));
  await admin.alterPartitionReassignments({ topics: moved });
  for (const { redis } of running) redis.breakAll(); // partitions start anew while their leaders move
  await eventually(async () => {
    const now = await admin.fetchTopicMetadata({ topics: Object.values(topics) });
    return moved.every(({ topic, partitionAssignment }) => {
      const found = now.topics.find(({ name }) => name === topic)?.partitions ?? [];
      return partitionAssignment.every(({ partition, replicas }) =>
        found.some(
          ({ partitionId, leader }) => partitionId === partition && leader === replicas[0],
        ),
      );
    });
  }, 'the leaders of all partitions have moved');
}

export const moveLeader: Fault = {
  name: 'move-leader',
  does: 'the leaders of all partitions move to other brokers, a few times, while connections to Redis end',
  brokers: 3,
  async run(world, random) {
    const times = 1 + below(random, 3);
    for (let time = 0; time < times; time++) {
      await moveLeaders(world);
      await world.publishedMore(1 + below(random, 60));
    }
    world.count('moves of leaders', times);
    world.note(`the leaders of all partitions moved ${times} times`);
  },
};

/** Does harm to a worker until others have its partitions, then repairs it; answers which. */
async function withoutKafka(
  world: World,
  random: Random,
  { harm, repair }: { harm: (worker: Worker) => void; repair: (worker: Worker) => void },
): Promise<Worker> {
  await ensureTwo(world);
  const victim = pick(random, world.running);
  await victim.publishes();
  harm(victim);
  try {
    await world.publishedEverywhere();
  } finally {
    repair(victim);
  }
  return victim;
}

export const cutKafka: Fault = {
  name: 'cut-kafka',
  does: 'connections to Kafka end, and new ones are refused until others have the partitions of the worker',
  async run(world, random) {
    const victim = await withoutKafka(world, random, {
      harm: ({ kafka }) => kafka.cut(),
      repair: ({ kafka }) => kafka.restore(),
    });
    world.count('cuts');
    world.note(`Kafka was cut off from ${victim.name}`);
    await world.publishedMore(20);
  },
};

export const breakKafka: Fault = {
  name: 'break-kafka',
  does: 'connections to Kafka end a few times, while new ones are welcome',
  async run(world, random) {
    const times = 1 + below(random, 4);
    for (let time = 0; time < times; time++) {
      for (const { kafka } of world.running) kafka.breakAll();
      await world.publishedMore(1 + below(random, 60));
    }
    world.count('cuts', times);
    world.note(`connections to Kafka broken ${times} times`);
  },
};

export const freezeKafka: Fault = {
  name: 'freeze-kafka',
  does: 'connections of a worker to Kafka are half-open until others have its partitions; then what it had sent arrives',
  async run(world, random) {
    const victim = await withoutKafka(world, random, {
      harm: ({ kafka }) => kafka.freeze(),
      repair: ({ kafka }) => kafka.thaw(),
    });
    world.count('freezes');
    world.note(`connections of ${victim.name} to Kafka were half-open`);
    await world.publishedMore(20);
  },
};

export const delayKafka: Fault = {
  name: 'delay-kafka',
  does: 'bytes to and from Kafka arrive up to 0.2 s late',
  async run(world, random) {
    const workers = someWorkers(world, random);
    const ms = 10 + below(random, 190);
    for (const { kafka } of workers) kafka.delay(ms);
    await world.publishedMore(100);
    for (const { kafka } of workers) kafka.delay(0);
    world.count('delays');
    world.note(`Kafka was ${ms} ms late for ${namesOf(workers)}`);
  },
};

/** Requests of a publisher, of which the answer counts. */
const TRANSACTION = [
  KAFKA_API.addPartitionsToTxn,
  KAFKA_API.produce,
  KAFKA_API.addOffsetsToTxn,
  KAFKA_API.txnOffsetCommit,
  KAFKA_API.endTxn,
] as const;

export const swallowKafka: Fault = {
  name: 'swallow-kafka',
  does: 'requests of transactions are carried out, but their answers are lost with the connection',
  async run(world, random) {
    const times = 1 + below(random, 4);
    for (let time = 0; time < times; time++) {
      const api = pick(random, TRANSACTION);
      const faults = world.running.map(({ kafka }) => kafka.onRequest(api, 'swallowReply'));
      await eventually(
        () => faults.some(({ isDone }) => isDone),
        `an answer to request ${api} is swallowed`,
      );
      for (const { kafka } of world.running) kafka.clearFaults();
      await world.publishedMore(1 + below(random, 40));
    }
    world.count('swallowed answers of Kafka', times);
    world.note(`answers to ${times} requests of transactions were swallowed`);
  },
};

/** Errors that pass, of coordinators that moved, load, or have yet to finish the transaction before. */
const COORDINATOR_ERRORS = [
  KAFKA_ERROR.coordinatorLoadInProgress,
  KAFKA_ERROR.coordinatorNotAvailable,
  KAFKA_ERROR.notCoordinator,
  KAFKA_ERROR.concurrentTransactions,
] as const;
const COORDINATED = [
  KAFKA_API.addPartitionsToTxn,
  KAFKA_API.addOffsetsToTxn,
  KAFKA_API.endTxn,
] as const;

export const coordinatorErrors: Fault = {
  name: 'coordinator-errors',
  does: 'requests of transactions are answered with errors of the coordinator, carried out or not',
  async run(world, random) {
    const times = 1 + below(random, 6);
    for (let time = 0; time < times; time++) {
      const api = pick(random, COORDINATED);
      const error = pick(random, COORDINATOR_ERRORS);
      const fault = { error, executed: random() < 0.5 };
      const faults = world.running.map(({ kafka }) => kafka.onRequest(api, fault));
      await eventually(() => faults.some(({ isDone }) => isDone), `request ${api} is refused`);
      for (const { kafka } of world.running) kafka.clearFaults();
      await world.publishedMore(1 + below(random, 40));
    }
    world.count('errors of coordinators', times);
    world.note(`${times} requests of transactions were answered with errors`);
  },
};

export const leaveTransactionOpen: Fault = {
  name: 'leave-transaction-open',
  does: 'a worker is killed between its first result and the commit, or before it hears that the commit was done',
  async run(world, random) {
    const victim = pick(random, world.running);
    const [action, words] = pick(random, [
      ['hangBefore', 'before its commit'],
      ['hangAfter', 'before the answer to its commit'],
    ] as const);
    const commit = victim.kafka.onRequest(KAFKA_API.endTxn, action);
    await eventually(() => commit.isDone, `worker ${victim.name} commits`);
    await kill(world, victim);
    world.count(action === 'hangBefore' ? 'transactions left open' : 'commits unanswered');
    world.note(`that was ${words}`);
    await add(world);
  },
};

export const KAFKA_FAULTS: readonly Fault[] = [
  killKafka,
  moveLeader,
  cutKafka,
  breakKafka,
  freezeKafka,
  delayKafka,
  swallowKafka,
  coordinatorErrors,
  leaveTransactionOpen,
];

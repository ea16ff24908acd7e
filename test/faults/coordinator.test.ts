import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';
import { executed, lost, refused } from './request-faults.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PARTITIONS = 2;
const PLAYERS = 50;
const EVENTS_PER_BATCH = 10;
const PAUSE_MS = 20;
/** Well below the 30 s that kafkajs waits for a response, and enough for a busy machine. */
const STALL_MS = 20_000;
const SHARE_AT_RANDOM = 0.01;
const HITS_AT_RANDOM = 60;

/** Sends score events until it is stopped, in order for each player. */
class Load {
  sent = 0;
  #stopping = false;
  #running: Promise<void> | undefined;

  constructor(private readonly producer: ScoreProducer) {}

  async start(): Promise<void> {
    await this.producer.connect();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    await this.producer.disconnect();
  }

  async #run(): Promise<void> {
    for (; !this.#stopping; this.sent += EVENTS_PER_BATCH) {
      const numbers = Array.from({ length: EVENTS_PER_BATCH }, (_, index) => this.sent + index);
      const players = numbers.map((number) => `player-${number % PLAYERS}`);
      await this.producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
      await delay(PAUSE_MS);
    }
  }
}

const RUNNING = [
  refused('addPartitionsToTxn', 'concurrentTransactions'),
  refused('addOffsetsToTxn', 'concurrentTransactions'),
  refused('endTxn', 'notCoordinator'),
  refused('addOffsetsToTxn', 'notCoordinator'),
  refused('txnOffsetCommit', 'notCoordinator'),
  refused('findCoordinator', 'notCoordinator'),
  lost('endTxn', 'swallowReply'),
  lost('endTxn', 'tearReply'),
  executed('endTxn', 'notCoordinator'),
  executed('endTxn', 'requestTimedOut'),
  lost('endTxn', 'cutBefore'),
  refused('endTxn', 'coordinatorNotAvailable'),
  lost('txnOffsetCommit', 'swallowReply'),
  refused('produce', 'requestTimedOut'),
  executed('produce', 'requestTimedOut'),
  refused('produce', 'notEnoughReplicas'),
  refused('produce', 'invalidProducerEpoch'),
  refused('produce', 'outOfOrderSequenceNumber'),
  lost('produce', 'swallowReply'),
  refused('heartbeat', 'unknownMemberId'),
  refused('heartbeat', 'rebalanceInProgress'),
  refused('heartbeat', 'illegalGeneration'),
  refused('heartbeat', 'notCoordinator'),
  lost('fetch', 'tearReply'),
];

const GROUP_ERRORS = [
  'coordinatorLoadInProgress',
  'coordinatorNotAvailable',
  'notCoordinator',
  'unknownMemberId',
  'rebalanceInProgress',
  'illegalGeneration',
] as const;

/** Faults while the service joins its group again. */
const REJOINING = [
  ...GROUP_ERRORS.flatMap((error) => [refused('joinGroup', error), refused('syncGroup', error)]),
  lost('joinGroup', 'swallowReply'),
  lost('syncGroup', 'tearReply'),
  refused('offsetFetch', 'notCoordinator'),
  refused('offsetFetch', 'coordinatorLoadInProgress'),
  lost('listOffsets', 'tearReply'),
  lost('metadata', 'swallowReply'),
];

/** Faults while the service opens its publishers again. */
const REOPENING = [
  refused('initProducerId', 'concurrentTransactions'),
  lost('initProducerId', 'swallowReply'),
  refused('initProducerId', 'notCoordinator'),
];

describe('a service under load goes on, when', () => {
  let instance: TestInstance;
  let proxy: KafkaProxy;
  let service: RanklogProcess;
  let load: Load;
  beforeAll(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    service = await instance.start();
    const { kafka, name } = instance;
    load = new Load(new ScoreProducer({ kafka, topicPrefix: name }));
    await load.start();
  });
  afterAll(async () => {
    await load.stop();
    await instance.remove();
    await proxy.close();
  });

  /** Waits until everything that is in the log now is published. */
  const published = () => instance.published(load.sent);
  /** The same, which must not take long; and the service must be alive. */
  const expectProgress = async () => {
    const started = performance.now();
    await published();
    const ms = Math.round(performance.now() - started);
    if (ms > STALL_MS)
      throw new Error(`it took ${ms} ms; the end of the log: ${service.errors.slice(-3_000)}`);
    expect(service.exitCode).toBeNull();
  };

  it.each(RUNNING)('%s', async (_name, apiKey, action) => {
    await published();
    const fault = proxy.onRequest(apiKey, action);
    await until(() => fault.isDone, 'the fault has occurred');
    await expectProgress();
  });

  it.each(REOPENING)('it opens its publishers again and %s', async (_name, apiKey, action) => {
    await published();
    const fault = proxy.onRequest(apiKey, action, { times: PARTITIONS });
    const cause = proxy.onRequest(KAFKA_API.endTxn, 'swallowReply', { times: PARTITIONS });
    await until(() => cause.isDone && fault.isDone, 'the faults have occurred');
    await expectProgress();
  });

  it.each(REJOINING)('it joins its group again and %s', async (_name, apiKey, action) => {
    await published();
    const fault = proxy.onRequest(apiKey, action);
    const error = { error: KAFKA_ERROR.illegalGeneration, executed: false };
    proxy.onRequest(KAFKA_API.heartbeat, error);
    await until(() => fault.isDone, 'the fault has occurred');
    await expectProgress();
  });

  it('the group has forgotten it, and it loses its connection when it joins again', async () => {
    await published();
    const joins = () => service.errors.split('assigned partitions').length;
    const before = joins();
    const [, heartbeat, forgotten] = refused('heartbeat', 'unknownMemberId');
    const faults = [
      proxy.onRequest(KAFKA_API.joinGroup, 'cutBefore'),
      proxy.onRequest(heartbeat, forgotten),
    ];
    await until(() => faults.every(({ isDone }) => isDone), 'the faults have occurred');
    await until(() => joins() > before, 'it has joined again');
    await expectProgress();
  });

  it('all of them come at random', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const when = () => random() < SHARE_AT_RANDOM;
    const faults = [...RUNNING, ...REJOINING, ...REOPENING].map(([, apiKey, action]) =>
      proxy.onRequest(apiKey, action, { times: Infinity, when }),
    );
    const hits = () => faults.reduce((sum, fault) => sum + fault.hits, 0);
    await until(() => hits() >= HITS_AT_RANDOM, 'enough faults have occurred');
    proxy.clearFaults();
    await expectProgress();
  });

  it('and every result is there exactly once, also for Kafka’s own consumer', async () => {
    await load.stop();
    const { kafka, topics, reader } = instance;
    await instance.published(load.sent);
    const changes = await readRankChanges(kafka, topics);
    expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([load.sent, load.sent]);
    expect(brokenChains(changes)).toEqual([]);
    const ids = await consoleConsumerIds(topics.rankChanges, load.sent);
    expect([new Set(ids).size, ids.length]).toEqual([load.sent, load.sent]);
    const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: PLAYERS });
    const scores = entries.map(({ columns }) => Number(columns['score']));
    expect(scores.reduce((a, b) => a + b)).toBe(load.sent);
  });
});

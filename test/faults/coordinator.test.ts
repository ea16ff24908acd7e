import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PARTITIONS = 2;
const PLAYERS = 50;
const EVENTS_AT_ONCE = 10;
const PAUSE_MS = 20;
/** Well below the 30 s that kafkajs waits for an answer, and well above what a busy machine makes of a moment. */
const STALL_MS = 20_000;
const SHARE_AT_RANDOM = 0.01;
const HITS_AT_RANDOM = 60;

/** Score events without a pause, one after the other for each player. */
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
    while (!this.#stopping) {
      const numbers = Array.from({ length: EVENTS_AT_ONCE }, (_, index) => this.sent + index);
      await this.producer.send(
        numbers.map((number) => ({
          board: 'arena',
          playerId: `player-${number % PLAYERS}`,
          delta: 1,
        })),
      );
      this.sent += EVENTS_AT_ONCE;
      await delay(PAUSE_MS);
    }
  }
}

type Fault = readonly [name: string, apiKey: number, action: KafkaAction];

const failed = (error: number): KafkaAction => ({ error, executed: false });
const failedThoughDone = (error: number): KafkaAction => ({ error, executed: true });

const BUSY: readonly Fault[] = [
  ['AddPartitionsToTxn', KAFKA_API.addPartitionsToTxn],
  ['AddOffsetsToTxn', KAFKA_API.addOffsetsToTxn],
].map(([name, api]) => [
  `${name} is answered CONCURRENT_TRANSACTIONS`,
  Number(api),
  failed(KAFKA_ERROR.concurrentTransactions),
]);

const MOVED: readonly Fault[] = [
  ['EndTxn', KAFKA_API.endTxn],
  ['AddOffsetsToTxn', KAFKA_API.addOffsetsToTxn],
  ['TxnOffsetCommit', KAFKA_API.txnOffsetCommit],
  ['FindCoordinator', KAFKA_API.findCoordinator],
].map(([name, api]) => [
  `${name} is answered NOT_COORDINATOR`,
  Number(api),
  failed(KAFKA_ERROR.notCoordinator),
]);

const LOST: readonly Fault[] = [
  ['EndTxn is executed and its answer lost', KAFKA_API.endTxn, 'swallowReply'],
  ['EndTxn is executed and its answer torn', KAFKA_API.endTxn, 'tearReply'],
  [
    'EndTxn is executed and answered NOT_COORDINATOR',
    KAFKA_API.endTxn,
    failedThoughDone(KAFKA_ERROR.notCoordinator),
  ],
  [
    'EndTxn is executed and answered REQUEST_TIMED_OUT',
    KAFKA_API.endTxn,
    failedThoughDone(KAFKA_ERROR.requestTimedOut),
  ],
  ['the connection is lost before EndTxn', KAFKA_API.endTxn, 'cutBefore'],
  [
    'EndTxn is answered COORDINATOR_NOT_AVAILABLE',
    KAFKA_API.endTxn,
    failed(KAFKA_ERROR.coordinatorNotAvailable),
  ],
  ['TxnOffsetCommit is executed and its answer lost', KAFKA_API.txnOffsetCommit, 'swallowReply'],
];

const PRODUCING: readonly Fault[] = [
  ['Produce is answered REQUEST_TIMED_OUT', KAFKA_API.produce, failed(KAFKA_ERROR.requestTimedOut)],
  [
    'Produce is executed and answered REQUEST_TIMED_OUT',
    KAFKA_API.produce,
    failedThoughDone(KAFKA_ERROR.requestTimedOut),
  ],
  [
    'Produce is answered NOT_ENOUGH_REPLICAS',
    KAFKA_API.produce,
    failed(KAFKA_ERROR.notEnoughReplicas),
  ],
  [
    'Produce is answered INVALID_PRODUCER_EPOCH',
    KAFKA_API.produce,
    failed(KAFKA_ERROR.invalidProducerEpoch),
  ],
  [
    'Produce is answered OUT_OF_ORDER_SEQUENCE_NUMBER',
    KAFKA_API.produce,
    failed(KAFKA_ERROR.outOfOrderSequenceNumber),
  ],
  ['Produce is executed and its answer lost', KAFKA_API.produce, 'swallowReply'],
];

const CONSUMING: readonly Fault[] = [
  [
    'Heartbeat is answered UNKNOWN_MEMBER_ID',
    KAFKA_API.heartbeat,
    failed(KAFKA_ERROR.unknownMemberId),
  ],
  [
    'Heartbeat is answered REBALANCE_IN_PROGRESS',
    KAFKA_API.heartbeat,
    failed(KAFKA_ERROR.rebalanceInProgress),
  ],
  [
    'Heartbeat is answered ILLEGAL_GENERATION',
    KAFKA_API.heartbeat,
    failed(KAFKA_ERROR.illegalGeneration),
  ],
  [
    'Heartbeat is answered NOT_COORDINATOR',
    KAFKA_API.heartbeat,
    failed(KAFKA_ERROR.notCoordinator),
  ],
  ['the answer to a Fetch is torn', KAFKA_API.fetch, 'tearReply'],
];

/** The service joins its group again. */
const REJOINING: readonly Fault[] = [
  ...[
    ['COORDINATOR_LOAD_IN_PROGRESS', KAFKA_ERROR.coordinatorLoadInProgress],
    ['COORDINATOR_NOT_AVAILABLE', KAFKA_ERROR.coordinatorNotAvailable],
    ['NOT_COORDINATOR', KAFKA_ERROR.notCoordinator],
    ['UNKNOWN_MEMBER_ID', KAFKA_ERROR.unknownMemberId],
    ['REBALANCE_IN_PROGRESS', KAFKA_ERROR.rebalanceInProgress],
    ['ILLEGAL_GENERATION', KAFKA_ERROR.illegalGeneration],
  ].flatMap(([name, error]) => [
    [`JoinGroup is answered ${name}`, KAFKA_API.joinGroup, failed(Number(error))] as const,
    [`SyncGroup is answered ${name}`, KAFKA_API.syncGroup, failed(Number(error))] as const,
  ]),
  ['JoinGroup is executed and its answer lost', KAFKA_API.joinGroup, 'swallowReply'],
  ['SyncGroup is executed and its answer torn', KAFKA_API.syncGroup, 'tearReply'],
  [
    'OffsetFetch is answered NOT_COORDINATOR',
    KAFKA_API.offsetFetch,
    failed(KAFKA_ERROR.notCoordinator),
  ],
  [
    'OffsetFetch is answered COORDINATOR_LOAD_IN_PROGRESS',
    KAFKA_API.offsetFetch,
    failed(KAFKA_ERROR.coordinatorLoadInProgress),
  ],
  ['the answer to ListOffsets is torn', KAFKA_API.listOffsets, 'tearReply'],
  ['the answer to Metadata is lost', KAFKA_API.metadata, 'swallowReply'],
];

/** The service takes over from itself: its publishers are fenced and opened again. */
const TAKING_OVER: readonly Fault[] = [
  [
    'InitProducerId is answered CONCURRENT_TRANSACTIONS',
    KAFKA_API.initProducerId,
    failed(KAFKA_ERROR.concurrentTransactions),
  ],
  ['InitProducerId is executed and its answer lost', KAFKA_API.initProducerId, 'swallowReply'],
  [
    'InitProducerId is answered NOT_COORDINATOR',
    KAFKA_API.initProducerId,
    failed(KAFKA_ERROR.notCoordinator),
  ],
];

const EVERY: readonly Fault[] = [
  ...[...BUSY, ...MOVED, ...LOST, ...PRODUCING],
  ...[...CONSUMING, ...REJOINING, ...TAKING_OVER],
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

  /** Waits until what is in the log by now is published. */
  const published = () => instance.published(load.sent);
  /** The same, which has to be without a stall, and the service alive. */
  const expectProgress = async () => {
    const started = performance.now();
    await published();
    const ms = Math.round(performance.now() - started);
    if (ms > STALL_MS)
      throw new Error(`it took ${ms} ms; the service said last: ${service.errors.slice(-3_000)}`);
    expect(service.exitCode).toBeNull();
  };

  it.each([...BUSY, ...MOVED, ...LOST, ...PRODUCING, ...CONSUMING])(
    '%s',
    async (_name, apiKey, action) => {
      await published();
      const fault = proxy.onRequest(apiKey, action);
      await until(() => fault.isDone, 'the fault has come');
      await expectProgress();
    },
  );

  it.each(TAKING_OVER)('%s', async (_name, apiKey, action) => {
    await published();
    const fault = proxy.onRequest(apiKey, action, { times: PARTITIONS });
    const cause = proxy.onRequest(KAFKA_API.endTxn, 'swallowReply', { times: PARTITIONS });
    await until(() => cause.isDone && fault.isDone, 'the faults have come');
    await expectProgress();
  });

  it.each(REJOINING)('it joins anew and %s', async (_name, apiKey, action) => {
    await published();
    const fault = proxy.onRequest(apiKey, action);
    proxy.onRequest(KAFKA_API.heartbeat, failed(KAFKA_ERROR.illegalGeneration));
    await until(() => fault.isDone, 'the fault has come');
    await expectProgress();
  });

  it('all of them come at random', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const faults = EVERY.map(([, apiKey, action]) =>
      proxy.onRequest(apiKey, action, {
        times: Infinity,
        when: () => random() < SHARE_AT_RANDOM,
      }),
    );
    const hits = () => faults.reduce((sum, fault) => sum + fault.hits, 0);
    await until(() => hits() >= HITS_AT_RANDOM, 'enough faults have come');
    proxy.clearFaults();
    await expectProgress();
  });

  it('and every result is there exactly once, for Kafka’s own consumer, too', async () => {
    await load.stop();
    const { kafka, topics, reader } = instance;
    await instance.published(load.sent);
    const changes = await readRankChanges(kafka, topics);
    expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([load.sent, load.sent]);
    expect(brokenChains(changes)).toEqual([]);
    const ids = await consoleConsumerIds(topics.rankChanges, load.sent);
    expect([new Set(ids).size, ids.length]).toEqual([load.sent, load.sent]);
    const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: PLAYERS });
    expect(entries.map(({ columns }) => Number(columns['score'])).reduce((a, b) => a + b)).toBe(
      load.sent,
    );
  });
});

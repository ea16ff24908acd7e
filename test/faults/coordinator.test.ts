import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { timed } from '../support/eventually.js';
import { until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { seededRandom } from '../support/seeded-random.js';
import { ProxiedIngest } from './proxied-ingest.js';
import { executed, lost, refused } from './request-faults.js';

const PARTITIONS = 2;
const EVENTS_PER_BATCH = 10;
const PAUSE_MS = 20;
/**
 * Well below the 30 s that kafkajs waits for a response by default, and enough for a busy machine.
 */
const STALL_MS = 20_000;
/**
 * Ranklog closes a silent connection after 10 s. After the commit's connection, one for Fetch or
 * Heartbeat can be silent, too.
 */
const SILENCE_MS = 28_000;
const SHARE_AT_RANDOM = 0.01;
const HITS_AT_RANDOM = 60;

const RUNNING = [
  refused('addPartitionsToTxn', 'concurrentTransactions'),
  refused('addOffsetsToTxn', 'concurrentTransactions'),
  refused('endTxn', 'notCoordinator'),
  refused('addOffsetsToTxn', 'notCoordinator'),
  refused('txnOffsetCommit', 'notCoordinator'),
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
  refused('findCoordinator', 'notCoordinator'),
];

describe('a service under load goes on, when', () => {
  let ingest: ProxiedIngest;
  let service: RanklogProcess;
  let isLoading = true;
  let load = Promise.resolve();
  const sendEvents = async () => {
    while (isLoading) {
      await ingest.produce(EVENTS_PER_BATCH);
      await delay(PAUSE_MS);
    }
  };
  beforeAll(async () => {
    ingest = await ProxiedIngest.create({ partitions: PARTITIONS });
    service = await ingest.start();
    load = sendEvents();
  });
  afterAll(async () => {
    isLoading = false;
    await load;
    await ingest.remove();
  });

  /** Checks that all events are published soon, and that the service is alive. */
  const expectProgress = async (maxMs = STALL_MS) => {
    const ms = Math.round(await timed(() => ingest.published()));
    if (ms > maxMs)
      throw new Error(`publishing took ${ms} ms; end of the log: ${service.errors.slice(-3_000)}`);
    expect(service.exitCode).toBeNull();
  };

  it.each(RUNNING)('%s', async (_name, apiKey, action) => {
    await ingest.published();
    const fault = ingest.proxy.onRequest(apiKey, action);
    await until(() => fault.isDone, 'the fault has occurred');
    await expectProgress();
  });

  it.each(REOPENING)('it opens its publishers again and %s', async (_name, apiKey, action) => {
    await ingest.published();
    const fault = ingest.proxy.onRequest(apiKey, action, { times: PARTITIONS });
    const cause = ingest.proxy.onRequest(KAFKA_API.endTxn, 'swallowReply', { times: PARTITIONS });
    await until(() => cause.isDone && fault.isDone, 'the faults have occurred');
    await expectProgress();
  });

  it.each(REJOINING)('it joins its group again and %s', async (_name, apiKey, action) => {
    await ingest.published();
    const fault = ingest.proxy.onRequest(apiKey, action);
    const error = { error: KAFKA_ERROR.illegalGeneration, executed: false };
    const cause = ingest.proxy.onRequest(KAFKA_API.heartbeat, error);
    await until(() => cause.isDone && fault.isDone, 'the faults have occurred');
    await expectProgress();
  });

  it('the group has forgotten it, and it loses its connection when it joins again', async () => {
    await ingest.published();
    const joins = () => service.errors.split('assigned partitions').length;
    const before = joins();
    const [, heartbeat, forgotten] = refused('heartbeat', 'unknownMemberId');
    const faults = [
      ingest.proxy.onRequest(KAFKA_API.joinGroup, 'cutBefore'),
      ingest.proxy.onRequest(heartbeat, forgotten),
    ];
    await until(() => faults.every(({ isDone }) => isDone), 'the faults have occurred');
    await until(() => joins() > before, 'it has joined again');
    await expectProgress();
  });

  it('its requests get no response, while its connections stay open', async () => {
    const undisturbed = await timed(() => ingest.published());
    const commit = ingest.proxy.onRequest(KAFKA_API.endTxn, 'hangAfter');
    await until(() => commit.executed === 1, 'a commit is executed without a response');
    const others = [KAFKA_API.fetch, KAFKA_API.heartbeat].map((api) =>
      ingest.proxy.onRequest(api, 'hangBefore'),
    );
    await until(() => others.some(({ isDone }) => isDone), 'another request gets no response');
    await expectProgress(SILENCE_MS + 5 * undisturbed);
    ingest.proxy.clearFaults();
    await expectProgress();
  });

  it('all these faults come at random', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const when = () => random() < SHARE_AT_RANDOM;
    const faults = [...RUNNING, ...REJOINING, ...REOPENING].map(([, apiKey, action]) =>
      ingest.proxy.onRequest(apiKey, action, { times: Infinity, when }),
    );
    const hits = () => faults.reduce((sum, fault) => sum + fault.hits, 0);
    await until(() => hits() >= HITS_AT_RANDOM, 'enough faults have occurred');
    ingest.proxy.clearFaults();
    await expectProgress();
  });

  it('its load has ended; every result is published exactly once', async () => {
    isLoading = false;
    await load;
    await ingest.expectExactlyOnce();
  });
});

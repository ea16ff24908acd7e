import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, type EachBatchHandler, type EachBatchPayload } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import Cluster from 'kafkajs/src/cluster/index.js';
import Batch from 'kafkajs/src/consumer/batch.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { eventually } from '../../../test/support/eventually.js';
import { encodeHeaders } from '../../../test/support/record-headers.js';
import {
  KAFKA_ERRORS,
  patchKafkajs,
  takingEveryFetch,
  type FetchedBatch,
} from './kafkajs-patches.js';

const LOGGER = { namespace: () => LOGGER, debug: () => undefined, warn: () => undefined };

beforeAll(() => {
  patchKafkajs();
  patchKafkajs(); // a second call does nothing
});

it('a patched broker is connected once its versions are known', () => {
  const connectionPool = { isConnected: () => true };
  const broker = new Broker({ connectionPool, logger: LOGGER });
  expect(broker.isConnected()).toBe(false);
  broker.lookupRequest = () => () => ({ request: {}, response: {} });
  expect(broker.isConnected()).toBe(true);
});

describe('a patched request queue', () => {
  /**
   * A queue of requests to a broker; `sent` has the correlation ids of the requests that left it.
   */
  function queueOf(maxInFlightRequests: number) {
    const sent: number[] = [];
    const limits = { maxInFlightRequests, requestTimeout: 1_000, enforceRequestTimeout: false };
    const queue = new RequestQueue({ ...limits, clientId: 'c', broker: 'b', logger: LOGGER });
    const push = (correlationId: number) =>
      queue.push({
        entry: { correlationId, resolve: () => undefined, reject: () => undefined },
        expectResponse: true,
        sendRequest: () => sent.push(correlationId),
      });
    const answer = (correlationId: number) =>
      queue.fulfillRequest({ correlationId, payload: {}, size: 0 });
    return { queue, sent, push, answer };
  }

  it('sets no timer without a waiting request', () => {
    const { queue, push, answer } = queueOf(1);
    push(1);
    answer(1);
    expect(queue.throttleCheckTimeoutId === null).toBe(true);
  });

  it('sends a waiting request as soon as another one is answered', () => {
    const { queue, sent, push, answer } = queueOf(1);
    push(1);
    push(2);
    expect(sent).toEqual([1]);
    answer(1);
    expect(sent).toEqual([1, 2]);
    queue.destroy();
  });

  it('sends throttled requests after the throttle time, and then sets no timer', async () => {
    const { queue, sent, push, answer } = queueOf(5);
    const begin = Date.now();
    queue.maybeThrottle(50);
    push(1);
    push(2);
    expect(sent).toEqual([]);
    while (sent.length < 2 && Date.now() < begin + 60_000) await new Promise(setImmediate);
    expect(sent).toEqual([1, 2]);
    expect(Date.now() - begin).toBeGreaterThanOrEqual(50);
    answer(1);
    answer(2);
    expect(queue.throttleCheckTimeoutId === null).toBe(true);
  });
});

describe('a patched cluster', () => {
  const before = Object.getOwnPropertyDescriptors(Cluster.prototype);
  afterEach(() => void Object.defineProperties(Cluster.prototype, before));

  it('retries when a broker returns a topic without partitions', async () => {
    const admin = new Kafka({ brokers: ['localhost:1'], logLevel: logLevel.NOTHING }).admin();
    let looks = 0;
    const partitions = [{ partition: 0, offset: '7' }];
    const responses = [{ topic: 'scores', partitions }];
    Object.assign(Cluster.prototype, {
      addTargetTopic: () => Promise.resolve(),
      refreshMetadataIfNecessary: () => Promise.resolve(),
      refreshMetadata: () => Promise.resolve(looks++),
      findTopicPartitionMetadata: () => (looks === 0 ? [] : [{ partitionId: 0 }]),
      findLeaderForPartitions: () => (looks === 0 ? {} : { 1: [0] }),
      findBroker: () => Promise.resolve({ listOffsets: () => Promise.resolve({ responses }) }),
    });
    expect(await admin.fetchTopicOffsets('scores')).toMatchObject([{ low: '7', high: '7' }]);
    expect(looks).toBe(1);
  });
});

describe('a patched connection', () => {
  it('opens one socket for requests at the same time', async () => {
    const server = createServer((socket) => void socket.resume());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const opened: Socket[] = [];
    const pool = new ConnectionPool({
      ...{ host: '127.0.0.1', port, logger: LOGGER },
      ...{ connectionTimeout: 10_000, requestTimeout: 10_000 },
      socketFactory: ({ onConnect }) => {
        const socket = connect(port, '127.0.0.1', onConnect);
        opened.push(socket);
        return socket;
      },
    });
    const both = () => Promise.all([pool.getConnection(), pool.getConnection()]);
    try {
      await both();
      expect(opened.length).toBe(1);
      opened[0]?.emit('end'); // Kafka closes an idle connection
      await eventually(() => !pool.isConnected(), 'the connection is closed');
      await both();
      expect(opened.length).toBe(2);
    } finally {
      for (const socket of opened) socket.destroy();
      await pool.destroy(); // and its timers
      server.close();
    }
  });

  it('publishes an error that kafkajs retries', async () => {
    const published: unknown[] = [];
    const add = (error: unknown) => published.push(error);
    subscribe(KAFKA_ERRORS, add);
    const retry = { retries: 1, initialRetryTime: 1 };
    const kafka = new Kafka({ brokers: ['localhost:1'], logLevel: logLevel.NOTHING, retry });
    await expect(kafka.admin().connect()).rejects.toThrow('ECONNREFUSED');
    unsubscribe(KAFKA_ERRORS, add);
    const refused = { error: 'KafkaJSConnectionError' };
    expect(published).toEqual([refused, refused]);
  });
});

describe('a patched runner', () => {
  const MARKERS = [7, 8].map((offset) => ({ offset: String(offset), isControlRecord: true }));
  const MARKERS_ONLY = { partition: 0, highWatermark: '9', abortedTransactions: [] };
  /** The result of a fetch from offset 5: transaction markers only. */
  const markers = () => new Batch('t', '5', { ...MARKERS_ONLY, messages: MARKERS });

  /** A runner of kafkajs, and the offsets that it resolved. */
  function runnerOf(eachBatch: EachBatchHandler, [active, paused] = [[0, 1], [] as number[]]) {
    const resolved: string[] = [];
    const consumerGroup = {
      maxWaitTime: 5_000,
      subscriptionState: {
        active: () => [{ partitions: active }],
        paused: () => [{ partitions: paused }],
      },
      // node 1 leads the odd partitions
      filterPartitionsByNode: (nodeId: number, topics: { partitions: number[] }[]) =>
        topics.map(({ partitions }) => ({
          partitions: partitions.filter((one) => one % 2 === nodeId),
        })),
      fetch: () => Promise.resolve([markers()]),
      resolveOffset: ({ offset }: { offset: string }) => resolved.push(offset),
      heartbeat: () => Promise.resolve(),
    };
    const runner = new Runner({
      ...{ logger: LOGGER, instrumentationEmitter: { emit: () => undefined }, concurrency: 1 },
      ...{ consumerGroup, eachBatch, autoCommit: false, eachBatchAutoResolve: false },
    });
    runner.running = true;
    return { runner, resolved };
  }

  it('passes a fetch without data records to a handler that takes every fetch, and lets it resolve the offset', async () => {
    const taken: EachBatchPayload[] = [];
    const take = (payload: EachBatchPayload) => Promise.resolve(void taken.push(payload));
    const { runner, resolved } = runnerOf(takingEveryFetch(take));
    const before = performance.now();
    for (const batch of await runner.fetch(1)) await runner.handleBatch(batch);
    const batch = taken[0]!.batch as EachBatchPayload['batch'] & FetchedBatch;
    expect([batch.fetchedOffset, batch.messages, batch.lastOffset()]).toEqual(['5', [], '8']);
    expect(batch.askedAt).toBeGreaterThanOrEqual(before);
    expect(resolved).toEqual([]);
    taken[0]!.resolveOffset(batch.lastOffset());
    expect(resolved).toEqual(['8']);
  });

  it('waits less for a fetch while partitions are paused, if its handler takes every fetch', async () => {
    const handle = () => Promise.resolve();
    const waitOf = async ({ runner }: ReturnType<typeof runnerOf>) => {
      await runner.fetch(1);
      return runner.consumerGroup.maxWaitTime;
    };
    const waitWith = (active: number[], paused: number[]) =>
      waitOf(
        runnerOf(
          takingEveryFetch(() => handle()),
          [active, paused],
        ),
      );
    expect(await waitOf(runnerOf(handle))).toBe(5_000);
    expect(await waitWith([0, 1], [])).toBe(500);
    expect(await waitWith([1], [3])).toBe(200);
    expect(await waitWith([0], [1])).toBe(20); // the active partition is on another broker
    expect(await waitWith([1], [0])).toBe(500); // the paused one is
  });

  it('gives plain headers to a handler that is not ours, and leaves those of ours encoded', async () => {
    const encoded = encodeHeaders([
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ]);
    const headersOf = async (handler: EachBatchHandler) => {
      const messages = [{ offset: '7', isControlRecord: false, headers: encoded }];
      const { runner } = runnerOf(handler);
      const batch = new Batch('t', '5', { ...MARKERS_ONLY, messages });
      Object.assign(runner.consumerGroup, { fetch: () => Promise.resolve([batch]) });
      return (await runner.fetch(1))[0]?.messages[0]?.headers;
    };
    const plain = await headersOf(() => Promise.resolve());
    expect(Object.entries(plain ?? {}).map(([name, value]) => [name, String(value)])).toEqual([
      ['constructor', 'x'],
      ['__proto__', 'y'],
    ]);
    expect(plain).toBeInstanceOf(Object);
    expect(await headersOf(takingEveryFetch(() => Promise.resolve()))).toBe(encoded);
  });

  it('skips a fetch without data records for any other handler', async () => {
    const { runner, resolved } = runnerOf(() => Promise.reject(new Error('was called')));
    await runner.handleBatch(markers());
    expect(resolved).toEqual(['8']);
  });

  it('keeps `fetchedSince` from the first fetch of a log until a fetch fails', async () => {
    const { runner } = runnerOf(() => Promise.resolve());
    const fetchedSince = async () =>
      (await runner.fetch(1)).map((batch) => (batch as typeof batch & FetchedBatch).fetchedSince);
    const [first] = await fetchedSince();
    expect(await fetchedSince()).toEqual([first]);
    const failure = new Error('the topic was deleted');
    const recovered = ConsumerGroup.prototype.recoverFromFetch.call(runner.consumerGroup, failure);
    await expect(recovered).rejects.toBe(failure);
    const [later] = await fetchedSince();
    expect(later).toBeGreaterThan(first!);
  });
});

// To add a patch: write one function, which `patchKafkajs` calls, and a test of its own that fails
// without it.

import { channel } from 'node:diagnostics_channel';
import kafkajs, { type Batch, type EachBatchHandler } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import Cluster from 'kafkajs/src/cluster/index.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import errors from 'kafkajs/src/protocol/error.js';
import fetchVersions from 'kafkajs/src/protocol/requests/fetch/index.js';
import { markAborted } from './committed-messages.js';
import { decodeFetch, FIRST_DECODED_VERSION, unreadableBatch } from './fetch-decoder.js';
import type { UnreadableBatchError } from './kafka-errors.js';
import { EncodedHeaders } from './record-headers.js';

const { KafkaJSConnectionError, KafkaJSGroupCoordinatorNotFound, KafkaJSRequestTimeoutError } =
  kafkajs;

const UNKNOWN_TOPIC_OR_PARTITION = 3;
const UNKNOWN_MEMBER_ID = 25;

/**
 * The diagnostics channel for each error of a connection or request, also if a retry follows. It
 * gets the name of the error in the protocol of Kafka, or the name of its class.
 */
export const KAFKA_ERRORS = 'ranklog:kafka-errors';

let patched = false;

/**
 * Repairs kafkajs 2.2.4, which is no longer maintained, for the whole process. Every user of
 * kafkajs calls it first; existing clients are repaired too. Further calls do nothing.
 */
export function patchKafkajs(): void {
  if (patched) return;
  patched = true;
  decodeBatchesOneByOne();
  checkQueuesOnlyWithRequests();
  discardPartialResponses();
  closeSilentConnections();
  awaitVersions();
  retryLostCoordinatorLookups();
  rejectMissingOffsets();
  hideAbortedRecords();
  keepGroupOffsets();
  rejoinWithoutMemberId();
  deliverEveryFetch();
  keepHeadersEncoded();
  publishErrors();
  connectOnce(); // last: the failure of an attempt is published once
}

/** Replaces a method. The replacement gets the original, bound to the object, and the arguments. */
function replace<Name extends string, T extends Record<Name, (...args: never[]) => unknown>>(
  prototype: T,
  name: Name,
  replacement: (this: T, original: T[Name], ...args: Parameters<T[Name]>) => ReturnType<T[Name]>,
): void {
  const original = prototype[name];
  prototype[name] = function (this: T, ...args: Parameters<T[Name]>) {
    return replacement.call(this, original.bind(this) as T[Name], ...args);
  } as T[Name];
}

/** How often a queue checks whether earlier answers let it send its waiting requests. */
const PENDING_CHECK_MS = 10;

/**
 * kafkajs wakes up every millisecond per connection to check an empty queue (tulios/kafkajs#1751).
 */
function checkQueuesOnlyWithRequests(): void {
  RequestQueue.prototype.scheduleCheckPendingRequests = function () {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const throttledMs = this.throttledUntil - Date.now();
    const waitMs = throttledMs > 0 ? throttledMs : PENDING_CHECK_MS;
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, waitMs);
  };
}

/**
 * kafkajs can decompress only gzip, trusts the sizes that a batch claims, and fails for all
 * partitions of a fetch at once.
 */
function decodeBatchesOneByOne(): void {
  const { protocol } = fetchVersions;
  fetchVersions.protocol = ({ version }) => {
    const request = protocol({ version });
    if (version < FIRST_DECODED_VERSION) return request;
    const decode = (response: Buffer) => decodeFetch(version, response);
    return (options) => {
      const asked = request(options);
      return { ...asked, response: { ...asked.response, decode } };
    };
  };
}

function publishErrors(): void {
  const errors = channel(KAFKA_ERRORS);
  const publish = (e: Error & { type?: string }) => errors.publish({ error: e.type ?? e.name });
  for (const name of ['connect', 'send'] as const)
    replace(Connection.prototype, name as 'send', (original, request) => {
      const result = original(request);
      result.catch(publish);
      return result;
    });
}

const LENGTH_BYTES = 4;

/**
 * When a connection breaks in the middle of a response, kafkajs keeps the first part, and takes the
 * first bytes of the next connection for the rest: no later request is ever answered.
 */
function discardPartialResponses(): void {
  replace(Connection.prototype, 'connect', function (connect) {
    if (!this.isConnected()) {
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = LENGTH_BYTES;
    }
    return connect();
  });
}

/**
 * After a request timeout kafkajs sends the next requests on the same connection, which the network
 * may have dropped. This destroys the socket, so that a late response cannot answer another
 * request.
 */
function closeSilentConnections(): void {
  replace(Connection.prototype, 'send', async function (send, request) {
    const { socket } = this;
    try {
      return await send(request);
    } catch (error) {
      if (error instanceof KafkaJSRequestTimeoutError && socket === this.socket) {
        const { broker } = this;
        socket?.destroy();
        this.rejectRequests(new KafkaJSConnectionError('No answer from the broker', { broker }));
        await this.disconnect();
      }
      throw error;
    }
  });
}

/**
 * kafkajs opens a socket for each request that finds the connection closed. Two such requests open
 * two sockets, and later requests use the second one. When the broker closes the idle first socket,
 * kafkajs takes this for the end of the connection, and rejects all requests in flight. Here the
 * second request waits for the socket of the first.
 */
function connectOnce(): void {
  const attempts = new WeakMap<Connection, Promise<unknown>>();
  replace(Connection.prototype, 'connect', function (connect) {
    const attempt = attempts.get(this) ?? connect().finally(() => attempts.delete(this));
    attempts.set(this, attempt);
    return attempt;
  });
}

/**
 * While kafkajs asks a broker for its API versions, it takes the broker for connected, and a
 * request of another caller fails with an error that ends a consumer. Here a broker counts as
 * connected once its versions are known, and other callers wait for that.
 */
function awaitVersions(): void {
  replace(Broker.prototype, 'isConnected', function (isConnected) {
    return this.lookupRequest.name !== 'notInitializedLookup' && isConnected();
  });
}

/**
 * When all connections break during the look-up of a coordinator, kafkajs throws a non-retriable
 * error, which ends a consumer. This throws a connection error instead, with a code that kafkajs
 * retries.
 */
function retryLostCoordinatorLookups(): void {
  replace(Cluster.prototype, 'findGroupCoordinatorMetadata', async (find, group) => {
    try {
      return await find(group);
    } catch (error) {
      if (!(error instanceof KafkaJSGroupCoordinatorNotFound)) throw error;
      throw new KafkaJSConnectionError(error.message, { code: 'ECONNREFUSED' });
    }
  });
}

/**
 * A broker that has just started may return a topic without partitions. kafkajs then returns no
 * offsets, and its callers fail with a TypeError. This throws the error for an unknown topic, which
 * the callers retry.
 */
function rejectMissingOffsets(): void {
  replace(Cluster.prototype, 'fetchTopicsOffset', async (fetchTopicsOffset, topics) => {
    const found = await fetchTopicsOffset(topics);
    if (found.length === 0) throw errors.createErrorFromCode(UNKNOWN_TOPIC_OR_PARTITION);
    return found;
  });
}

/**
 * kafkajs delivers aborted records when transactions interleave, and takes any key of four zero
 * bytes for an abort marker. This marks aborted records as control records. kafkajs skips these but
 * counts them as read, so no fetch repeats.
 */
function hideAbortedRecords(): void {
  replace(Broker.prototype, 'fetch', async (fetch, request) => {
    const fetched = await fetch(request);
    for (const partition of fetched.responses.flatMap(({ partitions }) => partitions)) {
      markAborted(partition);
      partition.abortedTransactions = [];
    }
    return fetched;
  });
}

/**
 * When the log does not hold the requested offset, kafkajs commits -1 or -2 to the group, even
 * without autoCommit. The group's offset would be lost. This continues at the same offset as
 * kafkajs would, and commits nothing.
 */
function keepGroupOffsets(): void {
  OffsetManager.prototype.setDefaultOffset = async function ({ topic, partition }) {
    const { fromBeginning } = this.topicConfigurations[topic] ?? {};
    const asked = { topic, partitions: [{ partition }], fromBeginning };
    const [found] = await this.cluster.fetchTopicsOffset([asked]);
    const offset = found?.partitions[0]?.offset;
    const resolved = this.resolvedOffsets[topic];
    if (offset !== undefined && resolved !== undefined) resolved[partition] = offset;
  };
}

/**
 * When the group has removed a member, kafkajs clears the member id and joins again. If the join
 * fails, it continues to fetch without an id, and never sends a heartbeat or joins again. The error
 * thrown here makes it join.
 */
function rejoinWithoutMemberId(): void {
  replace(ConsumerGroup.prototype, 'heartbeat', async function (beat, options) {
    if (this.memberId === null) throw errors.createErrorFromCode(UNKNOWN_MEMBER_ID);
    await beat(options);
  });
}

/** A kafkajs batch, with fields that the types of kafkajs lack. */
export interface FetchedBatch extends Pick<Batch, 'messages' | 'lastOffset' | 'highWatermark'> {
  readonly fetchedOffset: string;
  /** When the fetch was sent, by performance.now(). */
  readonly askedAt: number;
  /** Since when fetches of the partition have been answered without a long pause or a failure. */
  readonly fetchedSince: number;
  /** Set if the fetch returned no messages because it begins with such a batch. */
  readonly unreadable?: UnreadableBatchError | undefined;
}

const everyFetchHandlers = new WeakSet<EachBatchHandler>();

/**
 * How long Kafka waits before it answers a fetch without records. When a partition is resumed,
 * kafkajs asks for it only after the fetch under way. While all our partitions of a broker are
 * paused, kafkajs sleeps for this time; their queues must not run empty meanwhile. The fetchers of
 * several brokers share the value, so one may wait as long as another.
 */
const FETCH_WAIT_MS = { usually: 500, somePaused: 200, allPaused: 20 };

function fetchWaitOf(group: ConsumerGroup, nodeId: number): number {
  if (!hasPartitions(group, nodeId, 'paused')) return FETCH_WAIT_MS.usually;
  const isAnyActive = hasPartitions(group, nodeId, 'active');
  return isAnyActive ? FETCH_WAIT_MS.somePaused : FETCH_WAIT_MS.allPaused;
}

/** Whether any partition that a broker leads is in this state. */
function hasPartitions(group: ConsumerGroup, nodeId: number, state: 'active' | 'paused'): boolean {
  const topics = group.filterPartitionsByNode(nodeId, group.subscriptionState[state]());
  return topics.some(({ partitions }) => partitions.length > 0);
}

/**
 * Makes kafkajs call this handler also for fetches without data records. The handler must resolve
 * their last offset.
 */
export function takingEveryFetch(eachBatch: EachBatchHandler): EachBatchHandler {
  everyFetchHandlers.add(eachBatch);
  return eachBatch;
}

function takesEveryFetch({ eachBatch }: Runner): boolean {
  return eachBatch !== null && everyFetchHandlers.has(eachBatch);
}

/**
 * Delivers fetches without data records, which kafkajs skips, and fetches that begin with a batch
 * that can't be read. With other handlers, the latter fail, as without this patch. Adds `askedAt`:
 * when a leader moves, kafkajs may deliver a fetch that was sent before a seek. A failed fetch
 * resets `fetchedSince`: it may have failed because its topic was deleted.
 */
function deliverEveryFetch(): void {
  replace(Runner.prototype, 'fetch', async function (fetch, nodeId) {
    const group = this.consumerGroup;
    if (takesEveryFetch(this)) group.maxWaitTime = fetchWaitOf(group, nodeId);
    const askedAt = performance.now();
    const batches = await fetch(nodeId);
    return batches.map((batch) => {
      const fetchedSince = noteFetch(group, `${batch.topic}/${batch.partition}`);
      const unreadable = unreadableBatch(batch.rawMessages);
      if (unreadable !== undefined && !takesEveryFetch(this)) throw unreadable;
      return Object.assign(batch, { askedAt, fetchedSince, unreadable });
    });
  });
  replace(Runner.prototype, 'handleBatch', async function (handleBatch, batch) {
    const isSkipped = batch.isEmptyDueToFiltering() || batch.unreadable !== undefined;
    if (!takesEveryFetch(this) || !this.running || !isSkipped) return handleBatch(batch);
    await this.processEachBatch(batch);
    await this.heartbeat();
  });
  replace(ConsumerGroup.prototype, 'recoverFromFetch', async function (recover, error) {
    fetchTimes.delete(this);
    await recover(error);
  });
}

/**
 * kafkajs copies all headers for each header: 5,000 of them take seconds. It also takes a header
 * named `constructor` for one that occurred before. This leaves headers as bytes. A handler that is
 * not ours gets the plain objects that it expects.
 */
function keepHeadersEncoded(): void {
  // kafkajs calls this method only for the headers of a record, which are its last part.
  Decoder.prototype.readVarIntArray = function () {
    const count = this.readVarInt();
    return count > 0 ? new EncodedHeaders(count, this.buffer, this.offset) : EncodedHeaders.none;
  };
  replace(Runner.prototype, 'fetch', async function (fetch, nodeId) {
    const batches = await fetch(nodeId);
    if (takesEveryFetch(this)) return batches;
    for (const message of batches.flatMap(({ messages }) => messages))
      if (message.headers instanceof EncodedHeaders)
        message.headers = { ...message.headers.decode() };
    return batches;
  });
}

/**
 * After this time without an answered fetch, fetches of a log count as interrupted. Most pauses for
 * a full queue are shorter.
 */
const LONG_PAUSE_MS = 2_000;

/**
 * Per topic and partition: since when its fetches are answered without a long pause, and the time
 * of the last response, by performance.now().
 */
type FetchTimes = Map<string, { readonly since: number; readonly last: number }>;
const fetchTimes = new WeakMap<ConsumerGroup, FetchTimes>();

/** Notes a fetch response of a log. Returns since when its fetches are answered. */
function noteFetch(group: ConsumerGroup, log: string): number {
  const times = fetchTimes.get(group) ?? (new Map() as FetchTimes);
  fetchTimes.set(group, times);

  const now = performance.now();
  const previous = times.get(log);
  const isContinued = previous !== undefined && now - previous.last <= LONG_PAUSE_MS;
  const since = isContinued ? previous.since : now;
  times.set(log, { since, last: now });
  return since;
}

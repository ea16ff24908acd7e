import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Kafka } from 'kafkajs';
import type { FetchedPartition } from 'kafkajs/src/broker/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { toError } from '#errors';
import { Backoff } from '../kafkajs/backoff.js';
import { createCluster, READ_COMMITTED } from '../kafkajs/cluster.js';
import { logBatch, type LogBatch } from '../kafkajs/committed-messages.js';
import { unreadableBatch } from '../kafkajs/fetch-decoder.js';
import { isPermanent, LogGapError } from '../kafkajs/kafka-errors.js';
import type { KafkaBatchLogger } from '../kafkajs/kafka-logger.js';
import { LeaderRequests } from '../kafkajs/leader-requests.js';
import { LeaderLookups } from './leader-lookups.js';

export interface LogReaderOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly from: ReadonlyMap<number, number>;
  /** 1 MiB by default. A larger record is read nevertheless. */
  readonly maxBytesPerPartition?: number;
  /** Whether an unreadable batch only ends its partition, with a warning; else `fetch` throws. */
  readonly endsAtUnreadable?: boolean;
  /** Its abort ends all pending calls. */
  readonly signal?: AbortSignal;
  readonly logger?: KafkaBatchLogger;
}

const MAX_BYTES_PER_PARTITION = 1_048_576;
const MAX_WAIT_MS = 200;
const CLOSE_MS = 1_000;
const { KafkaJSError, KafkaJSOffsetOutOfRange } = kafkajs;

/**
 * Reads partitions of a topic concurrently, from given offsets, without a consumer group. kafkajs
 * has no such reader, so this uses its internals. Holds one response per broker in memory: up to 10
 * MiB before decompression, or one larger batch. After a failure such as a lost connection, a new
 * leader or a missing topic, logs it and retries until the signal is aborted.
 */
export class LogReader {
  readonly #positions: Map<number, number>;
  readonly #backoff = new Backoff();
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #requests = new LeaderRequests<FetchedPartition[]>();
  /** Unfinished work, also of aborted rounds. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** Partitions that ended before a batch that can't be read. */
  readonly #ended = new Set<number>();
  #isStale = false;

  private constructor(
    private readonly cluster: Cluster,
    private readonly options: LogReaderOptions,
  ) {
    this.#positions = new Map(options.from);
    const signals = [this.#closed.signal];
    if (options.signal !== undefined) signals.push(options.signal);
    this.#signal = AbortSignal.any(signals);
  }

  /**
   * Connects, however long it takes.
   * @throws the abort reason, or an error that no retry repairs
   */
  static async open(options: LogReaderOptions): Promise<LogReader> {
    const reader = new LogReader(createCluster(options.kafka), options);
    try {
      await reader.#retry(async () => {
        await reader.cluster.connect();
        await reader.cluster.addTargetTopic(options.topic);
      });
      return reader;
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** Per partition, the offset where the next round starts. */
  get positions(): ReadonlyMap<number, number> {
    return this.#positions;
  }

  /**
   * Whether `fetch` has not yet returned all answers. If so, a round without records does not mean
   * the end of the log.
   */
  get isWaiting(): boolean {
    return !this.#requests.isIdle;
  }

  /**
   * Runs one round: sends a request to each leader of wanted partitions, unless one is pending
   * there, and returns what arrives first; later rounds return the rest. Moves the positions past
   * the returned records. Without records, a round takes 200 ms. A round must end before the next
   * one begins.
   * @throws LogGapError if the log does not hold a position, UnreadableBatchError if it can't be
   * read there, the abort reason, or an error that no retry repairs
   */
  async fetch(wanted: ReadonlySet<number> = new Set(this.#positions.keys())): Promise<LogBatch[]> {
    return this.#retry(() => this.#round(wanted));
  }

  /**
   * Aborts pending calls and disconnects. Waits at most a second for a broker that does not answer.
   */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the log reader was closed'));
    const disconnected = this.#disconnect();
    disconnected.catch(() => undefined); // no later step needs the connection
    await Promise.race([disconnected, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  /** Disconnects twice, because the first time misses connections that are being opened. */
  async #disconnect(): Promise<void> {
    const first = this.cluster.disconnect();
    await Promise.allSettled([first, ...this.#underWay]);
    await this.cluster.disconnect();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = () => {
      this.#underWay.delete(work);
    };
    work.then(forget, forget);
    return work;
  }

  async #retry<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        this.#signal.throwIfAborted();
        const result = await unlessAborted(this.#signal, this.#track(work()));
        this.#backoff.reset();
        return result;
      } catch (error) {
        if (this.#signal.aborted || isPermanent(error)) throw error;
        this.#failed(error);
        await this.#pause(this.#backoff.next());
      }
    }
  }

  #failed(error: unknown): void {
    this.#isStale = true;
    const { topic, logger } = this.options;
    logger?.warn(`reading ${topic} failed, retrying: ${toError(error).message}`);
  }

  /** Resolves early when the signal is aborted. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#signal }).catch(() => undefined);
  }

  async #round(wanted: ReadonlySet<number>): Promise<LogBatch[]> {
    const deadline = performance.now() + MAX_WAIT_MS;
    if (this.#isStale) await this.cluster.refreshMetadata();
    this.#isStale = false;

    for (const [leader, partitions] of this.#byLeader(wanted)) {
      if (this.#requests.isPending(leader)) continue;
      this.#requests.add(leader, this.#track(this.#request(leader, partitions)));
    }

    for (;;) {
      // After an abort, waits end at once: the loop would spin until the deadline.
      this.#signal.throwIfAborted();
      const left = deadline - performance.now();
      const batches = left > 0 ? await this.#take(left) : [];
      if (batches.length > 0 || left <= 0) return batches;
      if (this.#requests.isIdle) await this.#pause(left);
    }
  }

  #byLeader(wanted: ReadonlySet<number>): Map<number, number[]> {
    const { topic } = this.options;
    const metadata = this.cluster.findTopicPartitionMetadata(topic);
    const leaders = new Map(metadata.map(({ partitionId, leader }) => [partitionId, leader]));
    const byLeader = new Map<number, number[]>();
    for (const partition of this.#positions.keys()) {
      if (this.#ended.has(partition) || !wanted.has(partition)) continue;
      const leader = leaders.get(partition);
      if (leader === undefined)
        throw new KafkaJSError(`no leader of ${topic}/${partition} is known`);

      const partitions = byLeader.get(leader) ?? [];
      partitions.push(partition);
      byLeader.set(leader, partitions);
    }
    return byLeader;
  }

  /**
   * Throws a permanent failure. Throws any other failure only if no broker returned records;
   * otherwise logs it, and the next round retries.
   */
  async #take(ms: number): Promise<LogBatch[]> {
    const answers = await this.#requests.take(ms);
    const failures: Error[] = [];
    for (const answer of answers) {
      if (answer.status === 'rejected') failures.push(answer.reason as Error);
    }
    const permanent = failures.find(isPermanent);
    if (permanent !== undefined) throw permanent;

    const batches: LogBatch[] = [];
    for (const answer of answers) {
      if (answer.status === 'fulfilled') batches.push(...this.#newBatches(answer.value));
    }
    const [firstFailure] = failures;
    if (firstFailure !== undefined && batches.length === 0) throw firstFailure;

    for (const failure of failures) this.#failed(failure);
    return batches;
  }

  /**
   * Drops records before the positions: two answers may hold the same records. Moves the positions.
   */
  #newBatches(fetched: readonly FetchedPartition[]): LogBatch[] {
    return fetched.flatMap((partition) => {
      if (this.#endsBefore(partition)) return [];
      const batch = logBatch(partition, this.#position(partition.partition));
      if (batch === undefined) return [];
      this.#positions.set(batch.partition, batch.nextOffset);
      return batch;
    });
  }

  #endsBefore({ partition, messages }: FetchedPartition): boolean {
    const unreadable = this.options.endsAtUnreadable ? unreadableBatch(messages) : undefined;
    if (unreadable === undefined) return false;

    this.#ended.add(partition);
    this.options.logger?.warn(`read up to offset ${unreadable.batch.first}: ${unreadable.message}`);
    return true;
  }

  async #request(nodeId: number, partitions: readonly number[]): Promise<FetchedPartition[]> {
    const { topic, maxBytesPerPartition } = this.options;
    const maxBytes = maxBytesPerPartition ?? MAX_BYTES_PER_PARTITION;
    const asked = partitions.map((partition) => {
      return { partition, fetchOffset: String(this.#position(partition)), maxBytes };
    });
    try {
      const broker = await this.cluster.findBroker({ nodeId });
      const { responses } = await broker.fetch({
        isolationLevel: READ_COMMITTED,
        maxWaitTime: MAX_WAIT_MS,
        minBytes: 1,
        topics: [{ topic, partitions: asked }],
      });
      return responses.flatMap((response) => response.partitions);
    } catch (error) {
      if (error instanceof KafkaJSOffsetOutOfRange) await this.#checkRange(nodeId, error.partition);
      throw error;
    }
  }

  #position(partition: number): number {
    return this.#positions.get(partition) ?? 0;
  }

  /**
   * Looks again, as a new leader may have lacked the position at first.
   * @throws LogGapError if the log does not hold it now
   */
  async #checkRange(nodeId: number, partition: number): Promise<void> {
    const { topic } = this.options;
    const position = this.#position(partition);
    const range = await new LeaderLookups(this.cluster, nodeId).range({ topic, partition });
    if (position < range.start || position > range.end)
      throw new LogGapError(topic, partition, position, range);
  }
}

/** Rejects as soon as the signal is aborted, with its reason, and ignores the later outcome. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(toError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

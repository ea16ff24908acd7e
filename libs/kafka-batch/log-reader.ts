import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Kafka } from 'kafkajs';
import { Backoff } from './backoff.js';
import { createCluster, READ_COMMITTED, type Cluster, type FetchedPartition } from './cluster.js';
import { isPermanent, LogGapError, toError } from './errors.js';
import { patchKafkajs } from './kafkajs-patches.js';
import { LeaderLookups } from './leader-lookups.js';
import { LeaderRequests } from './leader-requests.js';
import { logBatch, type LogBatch } from './log-batch.js';
import type { KafkaBatchLogger } from './types.js';

export interface LogReaderOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** Where to begin, for each partition that is to be read. */
  readonly from: ReadonlyMap<number, number>;
  /** 1 MiB unless told. A record that is larger is read all the same. */
  readonly maxBytesPerPartition?: number;
  /** Aborted, it ends whatever waits, at once. */
  readonly signal?: AbortSignal;
  /** Hears of failures that are tried again. */
  readonly logger?: KafkaBatchLogger;
}

type Answer = PromiseSettledResult<FetchedPartition[]>;

const MAX_BYTES_PER_PARTITION = 1_048_576;
const MAX_WAIT_MS = 200;
const CLOSE_MS = 1_000;
const BACKOFF = { firstMs: 100, mostMs: 5_000 };
const EVERY_PARTITION = () => true;
const { KafkaJSError, KafkaJSOffsetOutOfRange } = kafkajs;

/**
 * Reads partitions of a topic side by side, from given offsets, without a consumer group: over kafkajs' internals, for it
 * has no such reader. Holds one answer of each broker in memory, of 10 MiB at most, as Kafka has the records (compressed, perhaps).
 *
 * A lost connection, a new leader, a topic that is not there for a while: tells the logger, waits, and goes on, until
 * the signal is aborted.
 */
export class LogReader {
  readonly #positions: Map<number, number>;
  readonly #backoff = new Backoff(BACKOFF);
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #requests = new LeaderRequests((leader, partitions) =>
    this.#track(this.#ask(leader, partitions)),
  );
  /** Work that has not ended, also of rounds that were given up. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isStale = false;
  #isReading = false;

  private constructor(
    private readonly cluster: Cluster,
    private readonly options: LogReaderOptions,
  ) {
    this.#positions = new Map(options.from);
    const { signal } = options;
    this.#signal = AbortSignal.any([this.#closed.signal, ...(signal ? [signal] : [])]);
  }

  /** Connects, however long it takes. @throws the reason of the signal */
  static async open(options: LogReaderOptions): Promise<LogReader> {
    patchKafkajs();
    const reader = new LogReader(createCluster(options.kafka), options);
    try {
      await reader.#persist(() => reader.#connect());
      return reader;
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** By partition, the offset where the next round begins. */
  get positions(): ReadonlyMap<number, number> {
    return this.#positions;
  }

  /** Whether a broker has been asked and has not answered yet: a round without records is no end of the log then. */
  get isWaiting(): boolean {
    return !this.#requests.areAllAnswered;
  }

  /**
   * One round over the partitions that `wanted` lets through: asks each of their leaders that is not being asked already,
   * and gives what the first ones answer; what others answer is given by the next round. Moves on behind what it gives. When there is nothing, or nothing is wanted, it takes 200 ms to say so.
   *
   * One round at a time. The next one may be under way while the caller still works on what the last one gave.
   *
   * @throws LogGapError when the log does not hold a position, the reason of the signal, or what no retry repairs (a
   *   codec, a right that is missing); the positions stay then
   */
  async fetch(wanted: (partition: number) => boolean = EVERY_PARTITION): Promise<LogBatch[]> {
    if (this.#isReading) throw new Error('one round at a time: the one before is under way');
    this.#isReading = true;
    try {
      return await this.#persist(() => this.#round(wanted));
    } finally {
      this.#isReading = false;
    }
  }

  /** Ends what waits, and the connections. Waits for a broker that does not answer for a second at most. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the log reader was closed'));
    const disconnected = this.#disconnect();
    disconnected.catch(() => undefined); // nothing is left to be saved
    await Promise.race([disconnected, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  /** Twice: a connection that is still being made is not ended by the first time. */
  async #disconnect(): Promise<void> {
    const first = this.cluster.disconnect();
    await Promise.allSettled([first, ...this.#underWay]);
    await this.cluster.disconnect();
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const ended = () => void this.#underWay.delete(work);
    work.then(ended, ended);
    return work;
  }

  /** Does the work until it succeeds, or fails for good. */
  async #persist<T>(work: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        const done = await unlessAborted(this.#signal, () => this.#track(work()));
        this.#backoff.reset();
        return done;
      } catch (error) {
        if (this.#signal.aborted || isPermanent(error)) throw error;
        this.#failed(error);
        await this.#pause(this.#backoff.next());
      }
  }

  async #connect(): Promise<void> {
    await this.cluster.connect();
    await this.cluster.addTargetTopic(this.options.topic);
  }

  async #round(wanted: (partition: number) => boolean): Promise<LogBatch[]> {
    const deadline = performance.now() + MAX_WAIT_MS;
    if (this.#isStale) await this.cluster.refreshMetadata();
    this.#isStale = false;
    this.#requests.begin(this.#byLeader(wanted));
    for (;;) {
      const left = deadline - performance.now();
      const batches = left > 0 ? this.#take(await this.#requests.take(left)) : [];
      if (batches.length > 0 || left <= 0) return batches;
      if (this.#requests.areAllAnswered) await this.#pause(left);
    }
  }

  /** What the brokers gave. A failure of one is for the next round when another gave something. */
  #take(answers: readonly Answer[]): LogBatch[] {
    const failures = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [toError(answer.reason)] : [],
    );
    const permanent = failures.find(isPermanent);
    if (permanent !== undefined) throw permanent;
    const batches = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? this.#batches(answer.value) : [],
    );
    for (const failure of failures)
      if (batches.length === 0) throw failure;
      else this.#failed(failure);
    return batches;
  }

  /** Aborted, it ends early; whoever goes on is told the reason. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#signal }).catch(() => undefined);
  }

  #failed(error: unknown): void {
    this.#isStale = true;
    const { topic, logger } = this.options;
    logger?.warn(`reading ${topic} is tried again: ${toError(error).message}`);
  }

  #byLeader(wanted: (partition: number) => boolean): Map<number, number[]> {
    const { topic } = this.options;
    const leaders = new Map(
      this.cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId, leader }) => [partitionId, leader]),
    );
    const byLeader = new Map<number, number[]>();
    for (const partition of this.#positions.keys()) {
      if (!wanted(partition)) continue;
      const leader = leaders.get(partition);
      if (leader === undefined)
        throw new KafkaJSError(`no leader of ${topic}/${partition} is known`);
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), partition]);
    }
    return byLeader;
  }

  /** What is new in an answer: after a change of leaders, two may hold the same records. */
  #batches(fetched: readonly FetchedPartition[]): LogBatch[] {
    return fetched.flatMap((partition) => {
      const batch = logBatch(partition, this.#position(partition.partition));
      if (batch === undefined) return [];
      this.#positions.set(batch.partition, batch.nextOffset);
      return batch;
    });
  }

  async #ask(nodeId: number, partitions: readonly number[]): Promise<FetchedPartition[]> {
    try {
      const broker = await this.cluster.findBroker({ nodeId });
      const { responses } = await broker.fetch(this.#request(partitions));
      return responses.flatMap((topic) => topic.partitions);
    } catch (error) {
      if (error instanceof KafkaJSOffsetOutOfRange) await this.#checkRange(nodeId, error.partition);
      throw error;
    }
  }

  #request(partitions: readonly number[]): object {
    const { topic, maxBytesPerPartition = MAX_BYTES_PER_PARTITION } = this.options;
    return {
      isolationLevel: READ_COMMITTED,
      maxWaitTime: MAX_WAIT_MS,
      minBytes: 1,
      topics: [
        {
          topic,
          partitions: partitions.map((partition) => ({
            partition,
            fetchOffset: String(this.#position(partition)),
            maxBytes: maxBytesPerPartition,
          })),
        },
      ],
    };
  }

  #position(partition: number): number {
    return this.#positions.get(partition) ?? 0;
  }

  /** @throws LogGapError unless the log holds the position by now: a new leader may not have had it yet */
  async #checkRange(nodeId: number, partition: number): Promise<void> {
    const { topic } = this.options;
    const position = this.#position(partition);
    const range = await new LeaderLookups(this.cluster, nodeId).range(topic, partition);
    if (position < range.start || position > range.end)
      throw new LogGapError(topic, partition, position, range);
  }
}

/** The work, or the reason of the signal as soon as it is aborted; what comes of the work then is nobody's. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(toError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

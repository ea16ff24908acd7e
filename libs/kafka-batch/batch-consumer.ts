import { setTimeout as delay } from 'node:timers/promises';
import type {
  Admin,
  Consumer,
  ConsumerConfig,
  ConsumerGroupJoinEvent,
  EachBatchPayload,
  Kafka,
} from 'kafkajs';
import { Backoff } from './backoff.js';
import type { QueueLimits } from './batch-queue.js';
import { KafkaUnreachableError, toError } from './errors.js';
import { takingEveryFetch, type FetchedBatch } from './every-fetch.js';
import { GroupMembership } from './group-membership.js';
import { patchKafkajs } from './kafkajs-patches.js';
import { lookAt } from './last-committed-record.js';
import {
  PartitionWorker,
  type PartitionHandlers,
  type PartitionState,
} from './partition-worker.js';
import type { KafkaBatchLogger } from './types.js';

export interface BatchConsumerOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topic: string;
  readonly handlers: PartitionHandlers;
  readonly logger: KafkaBatchLogger;
  /** Called when the consumer can't go on: the process should end with an error. */
  readonly onFatal: (error: Error) => void;
  /** Called before it joins the group, with an admin client that stays connected until it is closed. */
  readonly onConnected?: (admin: Admin) => Promise<void>;
  readonly consumer?: Partial<Omit<ConsumerConfig, 'groupId' | 'retry'>>;
  readonly queue?: QueueLimits;
  readonly backoff?: { firstMs: number; mostMs: number };
  readonly connectTimeoutMs?: number;
}

export interface PartitionHealth {
  readonly state: PartitionState;
  /** Why the partition is not running. */
  readonly error: Error | undefined;
  /** For how long it has had work, a start or records, and finished none; 0 without work, and for a failed one. */
  readonly stuckMs: number;
}

export interface ConsumerHealth {
  /** Since the fetch loop last turned, or first tried to join the group, in ms. */
  readonly loopAgeMs: number;
  /** The partitions that this process was last assigned. */
  readonly partitions: ReadonlyMap<number, PartitionHealth>;
}

/** Low latency on a small machine; a paused consumer wakes up within maxWaitTimeInMs, new partitions are found within metadataMaxAge. */
const CONSUMER_DEFAULTS = {
  sessionTimeout: 10_000,
  rebalanceTimeout: 30_000,
  heartbeatInterval: 1_000,
  maxWaitTimeInMs: 200,
  maxBytesPerPartition: 1_048_576,
  metadataMaxAge: 15_000,
  // kafkajs counts failures for as long as it is a member, whatever goes well in between: so its waits stay short.
  retry: { initialRetryTime: 100, maxRetryTime: 1_000, multiplier: 2, factor: 0.2, retries: 20 },
} as const;
const QUEUE_DEFAULTS: QueueLimits = { high: 5_000, low: 2_000, bytes: 16 * 1_024 * 1_024 };
const BACKOFF_DEFAULTS = { firstMs: 100, mostMs: 5_000 };
const CONNECT_TIMEOUT_MS = 30_000;
const CONNECT_PAUSE_MS = 500;

/**
 * Hands over whole batches of one topic, a partition's one after the other and those of different ones side by side.
 *
 * kafkajs never sees an exception of ours, and never waits for a handler: fetched batches go to a bounded queue for
 * each partition, so a slow partition neither delays another nor costs the membership in the group. Offsets are never
 * committed here: the application does that with its results.
 */
export class BatchConsumer {
  readonly #consumer: Consumer;
  readonly #admin: Admin;
  readonly #membership: GroupMembership;
  readonly #workers = new Map<number, PartitionWorker>();
  /** The end of each partition's latest worker of earlier assignments; it waits for those before it. */
  readonly #ending = new Map<number, Promise<void>>();
  readonly #closed = new AbortController();
  #starting: Promise<void> | undefined;
  /** Between restarts of the consumer with nothing read in between. */
  readonly #pauses: Backoff;
  #lastTurn: number | undefined;

  constructor(private readonly options: BatchConsumerOptions) {
    const { kafka, groupId, topic, consumer = {}, backoff = BACKOFF_DEFAULTS } = options;
    patchKafkajs();
    this.#pauses = new Backoff(backoff);
    this.#consumer = kafka.consumer({
      ...CONSUMER_DEFAULTS,
      ...consumer,
      retry: { ...CONSUMER_DEFAULTS.retry, restartOnFailure: () => this.#mayRestart() },
      groupId,
      allowAutoTopicCreation: false,
    });
    this.#admin = kafka.admin();
    this.#membership = new GroupMembership(this.#consumer, topic);
  }

  /** The consumer of kafkajs, which stays this one's own. */
  get client(): Consumer {
    return this.#consumer;
  }

  get #closing(): boolean {
    return this.#closed.signal.aborted;
  }

  health(): ConsumerHealth {
    return {
      loopAgeMs: this.#lastTurn === undefined ? 0 : performance.now() - this.#lastTurn,
      partitions: new Map([...this.#workers].map(([partition, { status }]) => [partition, status])),
    };
  }

  /** Joins the group; when that fails, or is closed meanwhile, no connection is left open. @throws KafkaUnreachableError */
  async start(): Promise<void> {
    this.#starting = this.#start();
    try {
      await this.#starting;
    } catch (error) {
      await this.#disconnect().catch(() => undefined); // the first error is the one to tell
      throw error;
    }
  }

  /** Finishes the batches in hand, releases the partitions, leaves the group. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await Promise.all(this.#ending.values());
    await this.#starting?.catch(() => undefined); // told by start
    await this.#disconnect();
  }

  /**
   * Commits positions to the group, of those partitions that are assigned to this process now: another's may be
   * further. Also while a partition is released.
   */
  async commit(positions: ReadonlyMap<number, number>): Promise<void> {
    const { topic } = this.options;
    const ours = [...positions].filter(([partition]) => this.#workers.has(partition));
    if (ours.length === 0) return;
    await this.#consumer.commitOffsets(
      ours.map(([partition, offset]) => ({ topic, partition, offset: String(offset) })),
    );
  }

  async #start(): Promise<void> {
    await this.#connect();
    await this.options.onConnected?.(this.#admin);
    await this.#consumer.subscribe({ topics: [this.options.topic], fromBeginning: true });
    this.#listen();
    if (this.#closing) return;
    this.#turned();
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: takingEveryFetch((payload) => {
        this.#fetched(payload);
        return Promise.resolve();
      }),
    });
  }

  #listen(): void {
    const { GROUP_JOIN, CRASH, FETCH } = this.#consumer.events;
    this.#consumer.on(GROUP_JOIN, (event) => {
      this.#turned();
      this.#joined(event);
    });
    this.#consumer.on(FETCH, () => {
      this.#turned();
    });
    this.#consumer.on(CRASH, ({ payload }) => {
      this.#crashed(payload.error, payload.restart);
    });
  }

  #turned(): void {
    this.#lastTurn = performance.now();
  }

  async #disconnect(): Promise<void> {
    await this.#consumer.disconnect();
    await this.#admin.disconnect();
  }

  async #connect(): Promise<void> {
    const timeoutMs = this.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        await this.#consumer.connect();
        await this.#admin.connect();
        return;
      } catch (error) {
        if (this.#closing || performance.now() >= deadline)
          throw new KafkaUnreachableError(timeoutMs, error);
        this.options.logger.warn(`waiting for Kafka: ${toError(error).message}`);
        await delay(CONNECT_PAUSE_MS);
      }
    }
  }

  /**
   * The only hook for assignments. A running partition goes on if the same member gets it again; all others are released and
   * started anew (docs/decisions/0015).
   */
  #joined({ payload }: ConsumerGroupJoinEvent): void {
    const { topic } = this.options;
    const isSameMember = this.#membership.joined(payload.memberId);
    const partitions = payload.memberAssignment[topic] ?? [];
    if (partitions.length > 0) this.#consumer.pause([{ topic, partitions }]);
    for (const [partition, worker] of this.#workers) {
      const isKept = isSameMember && !this.#closing && partitions.includes(partition);
      if (isKept && worker.goOn()) continue;
      this.#end(partition, worker);
      this.#workers.delete(partition);
    }
    if (this.#closing) return;
    for (const partition of partitions) {
      if (this.#workers.has(partition)) continue;
      const worker = this.#newWorker(partition);
      this.#workers.set(partition, worker);
      worker.start(this.#ending.get(partition) ?? Promise.resolve());
    }
    this.options.logger.info(`${topic}: assigned partitions ${partitions.join(', ') || 'none'}`);
  }

  /** Kept until it is over: a partition may be lost and come back while a batch of before is in hand. */
  #end(partition: number, worker: PartitionWorker): void {
    const end = worker.stop().finally(() => {
      if (this.#ending.get(partition) === end) this.#ending.delete(partition);
    });
    this.#ending.set(partition, end);
  }

  #newWorker(partition: number): PartitionWorker {
    const { topic, handlers, logger } = this.options;
    const { queue = QUEUE_DEFAULTS, backoff = BACKOFF_DEFAULTS } = this.options;
    const only = [{ topic, partitions: [partition] }];
    const control = {
      pause: () => {
        this.#consumer.pause(only);
      },
      resume: () => {
        this.#consumer.resume(only);
      },
      seek: (offset: number) => {
        this.#consumer.seek({ topic, partition, offset: String(offset) });
      },
      logRange: async () => (await lookAt(this.options.kafka, { topic, partition })).range,
      stillOurs: () => this.#membership.owns(partition),
    };
    return new PartitionWorker({ topic, partition, queue, backoff, logger, handlers, control });
  }

  #fetched(payload: EachBatchPayload): void {
    const batch = payload.batch as EachBatchPayload['batch'] & FetchedBatch;
    const worker = this.#workers.get(batch.partition);
    try {
      if (worker === undefined || payload.isStale() || !payload.isRunning()) return;
      if (!worker.offer(batch)) return;
      payload.resolveOffset(batch.lastOffset());
      this.#pauses.reset();
    } catch (error) {
      worker?.restart(toError(error)); // an error that reached kafkajs would stop all partitions, some for ever
    }
  }

  /**
   * kafkajs itself starts again after 100 ms each time, however long Kafka is away. Whoever watches `health` decides when that
   * was too long.
   */
  async #mayRestart(): Promise<boolean> {
    const { signal } = this.#closed;
    await delay(this.#pauses.next(), undefined, { signal }).catch(() => undefined);
    return !this.#closing;
  }

  #crashed(error: Error, restarts: boolean): void {
    if (restarts) {
      this.options.logger.warn(`the consumer starts again: ${error.message}`, { error });
      return;
    }
    if (this.#closing) return;
    this.options.logger.error(`the consumer can't go on: ${error.message}`, { error });
    this.options.onFatal(error);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  type ConsumerGroupJoinEvent,
  type EachBatchPayload,
  type Kafka,
} from 'kafkajs';
import { toError } from '#errors';
import { Backoff } from '../kafkajs/backoff.js';
import {
  GroupRefusedError,
  isGroupRefused,
  KafkaUnreachableError,
  OtherTopicsError,
} from '../kafkajs/kafka-errors.js';
import type { KafkaBatchLogger } from '../kafkajs/kafka-logger.js';
import { patchKafkajs, takingEveryFetch, type FetchedBatch } from '../kafkajs/kafkajs-patches.js';
import { logRange } from '../look-up/log-ranges.js';
import type { QueueLimits } from './batch-queue.js';
import { groupFacts, untilOthersLeave, type OthersWait } from './group-members.js';
import {
  PartitionWorker,
  type PartitionHandlers,
  type PartitionHealth,
} from './partition-worker.js';
import { rendezvousAssigner, type Membership } from './rendezvous-assigner.js';

export interface BatchConsumerOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topic: string;
  readonly handlers: PartitionHandlers;
  readonly logger: KafkaBatchLogger;
  /** Called when the consumer has stopped for good: the process should exit with an error. */
  readonly onFatal: (error: Error) => void;
  /** Called before the join of the group, with an admin client that is connected until `close`. */
  readonly onConnected?: (admin: Admin) => Promise<void>;
  readonly consumer?: Partial<Omit<ConsumerConfig, 'groupId' | 'retry'>>;
  readonly queue?: QueueLimits;
  readonly backoff?: { firstMs: number; maxMs: number };
  /** How long to wait for Kafka, and then for members of another protocol to leave. */
  readonly connectTimeoutMs?: number;
  /**
   * Without it, members use kafkajs's default protocol, and a group with members of another one is
   * refused at once.
   */
  readonly membership?: Membership &
    Pick<OthersWait, 'refusal'> & { readonly signal?: AbortSignal | undefined };
}

export interface ConsumerHealth {
  /** Time in ms since the last fetch, join of the group, or start of a join; 0 before the first. */
  readonly loopAgeMs: number;
  readonly partitions: ReadonlyMap<number, PartitionHealth>;
}

/**
 * A new partition is found within metadataMaxAge. `takingEveryFetch` sets how long a fetch waits.
 * maxBytesPerPartition bounds the memory of fetches. Kafka returns a larger batch alone.
 */
const CONSUMER_DEFAULTS = {
  sessionTimeout: 10_000,
  rebalanceTimeout: 30_000,
  heartbeatInterval: 1_000,
  maxBytesPerPartition: 262_144,
  metadataMaxAge: 15_000,
  // kafkajs never resets its count of failures during a membership, so waits must stay short.
  retry: { initialRetryTime: 100, maxRetryTime: 1_000, multiplier: 2, factor: 0.2, retries: 20 },
} as const;
const QUEUE_DEFAULTS: QueueLimits = { high: 5_000, low: 2_000, bytes: 16 * 1_024 * 1_024 };
const CONNECT_TIMEOUT_MS = 30_000;
const CONNECT_PAUSE_MS = 500;
/** Kafka waits 3 s by default for members of a new group. A longer join waits for an old member. */
const LONG_JOIN_MS = 5_000;

/**
 * Delivers whole batches of one topic, in sequence within a partition, concurrently across
 * partitions. Only `commit` commits. kafkajs never sees an exception of a handler, and never waits
 * for a handler: fetched batches go to a bounded queue per partition, so a slow partition neither
 * delays others nor costs the process its membership of the group.
 */
export class BatchConsumer {
  /** The kafkajs consumer. Only this object connects, runs and disconnects it. */
  readonly client: Consumer;
  readonly #admin: Admin;
  #memberId: string | undefined;
  readonly #workers = new Map<number, PartitionWorker>();
  /** Per partition: resolves when its workers of all earlier assignments have ended. */
  readonly #ending = new Map<number, Promise<void>>();
  readonly #closed = new AbortController();
  #starting: Promise<void> | undefined;
  /** Pauses between restarts of the kafkajs consumer; reset when a partition takes a batch. */
  readonly #restartBackoff: Backoff;
  #lastFetch: number | undefined;
  /** Whether `run` is under way, which joins the group for the first time. */
  #isJoining = false;
  /** Kafka's refusal of the last join, because the group has members of another protocol. */
  #refused: Error | undefined;
  /** Resolves when the last crash is reported. */
  #crash: Promise<void> | undefined;

  constructor(private readonly options: BatchConsumerOptions) {
    const { kafka, groupId, membership, consumer = {}, backoff } = options;
    patchKafkajs();
    this.#restartBackoff = new Backoff(backoff);
    this.client = kafka.consumer({
      ...CONSUMER_DEFAULTS,
      ...consumer,
      ...(membership && { partitionAssigners: [rendezvousAssigner(membership)] }),
      retry: { ...CONSUMER_DEFAULTS.retry, restartOnFailure: () => this.#mayRestart() },
      groupId,
      allowAutoTopicCreation: false,
    });
    this.#admin = kafka.admin();
  }

  get #isClosing(): boolean {
    return this.#closed.signal.aborted;
  }

  health(): ConsumerHealth {
    return {
      loopAgeMs: this.#lastFetch === undefined ? 0 : performance.now() - this.#lastFetch,
      partitions: new Map([...this.#workers].map(([partition, { health }]) => [partition, health])),
    };
  }

  /**
   * Joins the group. Leaves no connection open if this fails.
   * @throws KafkaUnreachableError
   */
  async start(): Promise<void> {
    this.#starting = this.#start();
    try {
      await this.#starting;
    } catch (error) {
      await this.#disconnect().catch(() => undefined); // the first error is thrown
      throw error;
    }
  }

  /** Finishes the current batches, releases the partitions, leaves the group. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await Promise.all(this.#ending.values());
    await this.#starting?.catch(() => undefined); // thrown by start
    await this.#disconnect();
  }

  /**
   * Commits the offsets of partitions that are assigned to this process, also while `close`
   * releases them. Skips other partitions, and those whose earlier assignment has not ended yet:
   * another member may have committed larger offsets.
   */
  async commit(positions: ReadonlyMap<number, number>): Promise<void> {
    const { topic } = this.options;
    const ours = [...positions].filter(
      ([partition]) => this.#workers.has(partition) && !this.#ending.has(partition),
    );
    if (ours.length === 0) return;
    await this.client.commitOffsets(
      ours.map(([partition, offset]) => ({ topic, partition, offset: String(offset) })),
    );
  }

  async #start(): Promise<void> {
    await this.#connect();
    await this.options.onConnected?.(this.#admin);
    await this.client.subscribe({ topics: [this.options.topic], fromBeginning: true });
    this.#listen();
    await this.#join();
    await this.#crash;
  }

  /**
   * With `membership`, joins once members of another protocol have left.
   * @throws the error that `refusal` returns
   */
  async #join(): Promise<void> {
    const { groupId, logger, membership, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.options;
    if (membership === undefined) {
      await this.#run();
      return;
    }

    const { protocol, refusal } = membership;
    const deadline = performance.now() + connectTimeoutMs;
    const signals = [this.#closed.signal];
    if (membership.signal !== undefined) signals.push(membership.signal);
    const signal = AbortSignal.any(signals);
    const wait = { groupId, protocol, refusal, deadline, signal, logger };
    for (;;) {
      await untilOthersLeave(this.#admin, wait);
      const refused = await this.#run();
      if (refused === undefined) return;

      // `untilOthersLeave` can't read the protocol during a rebalance, and rebalances may not end.
      if (performance.now() >= deadline) throw await this.#refusal(refused);
      await delay(CONNECT_PAUSE_MS, undefined, { signal });
    }
  }

  /**
   * Returns Kafka's refusal; undefined if Kafka has admitted this member, or kafkajs tries again.
   */
  async #run(): Promise<Error | undefined> {
    this.#refused = undefined;
    if (this.#isClosing) return undefined;

    this.#lastFetch = performance.now();
    this.#isJoining = true;
    const timer = setTimeout(() => this.#logLongJoin(), LONG_JOIN_MS).unref();
    try {
      await this.client.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: takingEveryFetch((payload) => {
          this.#deliver(payload);
          return Promise.resolve();
        }),
      });
    } finally {
      clearTimeout(timer);
    }
    this.#isJoining = false;
    return this.#refused;
  }

  #logLongJoin(): void {
    const { groupId, topic, consumer, logger } = this.options;
    const sessionTimeout = consumer?.sessionTimeout ?? CONSUMER_DEFAULTS.sessionTimeout;
    logger.warn(
      `${topic}: waiting to join consumer group ${groupId}: a member has not left it. ` +
        `If it was killed, Kafka removes it within ${sessionTimeout / 1_000} s`,
    );
  }

  async #connect(): Promise<void> {
    const timeoutMs = this.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        await this.client.connect();
        await this.#admin.connect();
        return;
      } catch (error) {
        if (this.#isClosing || performance.now() >= deadline)
          throw new KafkaUnreachableError(timeoutMs, error);
        this.options.logger.warn(`waiting for Kafka: ${toError(error).message}`);
        await delay(CONNECT_PAUSE_MS);
      }
    }
  }

  async #disconnect(): Promise<void> {
    await this.client.disconnect();
    await this.#admin.disconnect();
  }

  #listen(): void {
    const { GROUP_JOIN, CRASH, FETCH, RECEIVED_UNSUBSCRIBED_TOPICS } = this.client.events;
    this.client.on(GROUP_JOIN, (event) => this.#joined(event));
    this.client.on(RECEIVED_UNSUBSCRIBED_TOPICS, ({ payload: { topicsNotSubscribed } }) => {
      const { groupId, topic, onFatal } = this.options;
      onFatal(new OtherTopicsError(groupId, topic, topicsNotSubscribed));
    });
    this.client.on(FETCH, () => {
      this.#lastFetch = performance.now();
    });
    this.client.on(CRASH, ({ payload: { error, restart } }) => {
      this.#crash = this.#crashed(error, restart);
    });
  }

  /**
   * Handles an assignment. A running partition continues if the same member gets it again. Any
   * other partition that had a worker is released. Then each assigned partition without a worker is
   * started (docs/decisions/0015).
   */
  #joined({ payload }: ConsumerGroupJoinEvent): void {
    this.#lastFetch = performance.now();
    const { topic } = this.options;
    // If so, the group has not removed this member meanwhile.
    const isSameMember = payload.memberId === this.#memberId;
    this.#memberId = payload.memberId;
    const partitions = payload.memberAssignment[topic] ?? [];
    if (partitions.length > 0) this.client.pause([{ topic, partitions }]);

    for (const [partition, worker] of this.#workers) {
      const isKept = isSameMember && !this.#isClosing && partitions.includes(partition);
      if (isKept && worker.continue()) continue;
      this.#end(partition, worker);
      this.#workers.delete(partition);
    }
    if (this.#isClosing) return;

    for (const partition of partitions) {
      if (this.#workers.has(partition)) continue;
      const worker = this.#newWorker(partition);
      this.#workers.set(partition, worker);
      worker.start(this.#ending.get(partition) ?? Promise.resolve());
    }
    this.options.logger.info(`${topic}: assigned partitions ${partitions.join(', ') || 'none'}`);
  }

  /**
   * Stops a worker. If the partition is assigned again while the worker still handles its last
   * batch, the next worker waits.
   */
  #end(partition: number, worker: PartitionWorker): void {
    const end = worker.stop().finally(() => {
      if (this.#ending.get(partition) === end) this.#ending.delete(partition);
    });
    this.#ending.set(partition, end);
  }

  #newWorker(partition: number): PartitionWorker {
    const { kafka, topic, handlers, logger, queue = QUEUE_DEFAULTS, backoff } = this.options;
    const only = [{ topic, partitions: [partition] }];
    const control = {
      pause: () => this.client.pause(only),
      resume: () => this.client.resume(only),
      seek: (offset: number) => this.client.seek({ topic, partition, offset: String(offset) }),
      logRange: () => logRange(kafka, topic, partition),
      stillOurs: () => this.#owns(partition),
    };
    return new PartitionWorker({ topic, partition, queue, backoff, logger, handlers, control });
  }

  async #owns(partition: number): Promise<boolean> {
    const { state, members } = await this.client.describeGroup();
    const member = members.find(({ memberId }) => memberId === this.#memberId);
    if (state !== 'Stable' || member === undefined) return false;
    const decoded = kafkajs.AssignerProtocol.MemberAssignment.decode(member.memberAssignment);
    return decoded?.assignment[this.options.topic]?.includes(partition) ?? false;
  }

  #deliver(payload: EachBatchPayload): void {
    const batch = payload.batch as EachBatchPayload['batch'] & FetchedBatch;
    const worker = this.#workers.get(batch.partition);
    try {
      if (worker === undefined || payload.isStale() || !payload.isRunning()) return;
      if (!worker.offer(batch)) return;
      payload.resolveOffset(batch.lastOffset());
      this.#restartBackoff.reset();
    } catch (error) {
      // An error thrown here would make kafkajs stop all partitions
      worker?.restart(toError(error));
    }
  }

  /**
   * Delays a restart, because kafkajs itself waits at most a second. Allows every restart until
   * `close`; `health` shows how long an outage lasts.
   */
  async #mayRestart(): Promise<boolean> {
    const { signal } = this.#closed;
    await delay(this.#restartBackoff.next(), undefined, { signal }).catch(() => undefined);
    return !this.#isClosing;
  }

  async #crashed(error: Error, restarts: boolean): Promise<void> {
    const { topic, membership, logger, onFatal } = this.options;
    if (restarts) {
      logger.warn(`${topic}: the consumer restarts: ${error.message}`, { error });
      return;
    }
    this.#refused = isGroupRefused(error) ? error : undefined;
    const joinsAgain = this.#refused !== undefined && membership !== undefined && this.#isJoining;
    if (this.#isClosing || joinsAgain) return;

    const reason = this.#refused === undefined ? error : await this.#refusal(error);
    logger.error(`${topic}: the consumer stopped: ${reason.message}`, { error: reason });
    onFatal(reason);
  }

  /** Returns an error that lists the members of the group; Kafka's error if they can't be read. */
  async #refusal(error: Error): Promise<Error> {
    const { groupId, membership } = this.options;
    try {
      const group = await groupFacts(this.#admin, groupId);
      if (group.protocol === membership?.protocol) return error; // the others have left meanwhile
      return membership?.refusal(group) ?? new GroupRefusedError(group);
    } catch {
      return error;
    }
  }
}

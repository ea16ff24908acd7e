import { setTimeout as delay } from 'node:timers/promises';
import { partitionCount, toError } from '#kafka-batch';
import type { KafkaConnection } from '../infra/kafka.js';
import type { Logger } from '../infra/logger.js';
import { ProblemError } from '../infra/problems.js';
import { ChangeFeed } from './change-feed.js';

/** How long a client waits for Kafka before it gets a problem, in ms. */
const WAIT_MS = 5_000;

/** The one ChangeFeed of a process, which is opened when it is needed. */
export class SharedChangeFeed {
  #feed: Promise<ChangeFeed> | undefined;
  #stop = new AbortController();

  /** @param ended called when the feed ends without a call of `close` */
  constructor(
    private readonly connection: KafkaConnection,
    private readonly logger: Logger,
    private readonly ended: () => void,
  ) {}

  /** @throws ProblemError LOG_UNAVAILABLE */
  async get(): Promise<ChangeFeed> {
    this.#feed ??= this.#open();
    return inTime(this.#feed);
  }

  close(): void {
    this.#feed = undefined;
    this.#stop.abort(new Error('the feed of rank changes was closed'));
  }

  /** Ends the feed if the topic has got more partitions, which it would not read. */
  async checkPartitions(): Promise<void> {
    const { kafka, topics } = this.connection;
    const feed = await this.#feed?.catch(() => undefined);
    if (feed === undefined || (await partitionCount(kafka, topics.rankChanges)) <= feed.partitions)
      return;
    this.close();
    this.ended();
  }

  async #open(): Promise<ChangeFeed> {
    const { kafka, admin, topics } = this.connection;
    const { signal } = (this.#stop = new AbortController());
    try {
      const options = { kafka, admin, topic: topics.rankChanges, logger: this.logger };
      const feed = await ChangeFeed.open(options, signal);
      void feed.ended.then((reason) => {
        if (!signal.aborted) this.#failed(reason);
      });
      return feed;
    } catch (error) {
      this.#feed = undefined;
      throw error;
    }
  }

  #failed(reason: unknown): void {
    this.logger.warn(`all live streams end: ${toError(reason).message}`);
    this.#feed = undefined;
    this.ended();
  }
}

/** @throws ProblemError LOG_UNAVAILABLE if work with Kafka fails or takes too long */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = delay(WAIT_MS, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no answer in ${WAIT_MS / 1_000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    const detail = `Kafka does not answer (${toError(error).message}); try again`;
    throw new ProblemError('LOG_UNAVAILABLE', detail);
  } finally {
    stop.abort();
  }
}

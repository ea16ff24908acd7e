import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import {
  decodeDeadLetter,
  decodeRankChange,
  decodeStoredDefinition,
  headerText,
  IDENTITY_KEY,
  isOfBoard,
  MalformedRecordError,
  parseObject,
  type TopicNames,
} from '#contracts';
import { toError } from '#errors';
import {
  committedOffsets,
  logRange,
  logRanges,
  TopicFollower,
  type KafkaRecord,
} from '#kafka-batch';
import {
  publishesAll,
  type PublishFields,
  type ResultWait,
  type SendOutcome,
} from './result-wait.js';

export interface ResultFeedOptions {
  readonly kafka: Kafka;
  readonly topics: TopicNames;
  readonly ranklogGroup: string | undefined;
}

type TakeRecord = Parameters<TopicFollower['run']>[0];

/** The pause between two looks at the group's committed offsets, in ms. */
const POLL_MS = 200;

/** How long a feed without waits stays open, in ms; it reads the result topics meanwhile. */
const IDLE_MS = 5_000;

/**
 * Reads all committed rank changes and dead letters from the moment it is opened, and gives each
 * wait its outcome. An event has no result if the group's committed offset has passed it, and
 * everything that was written to the result topics by then was read. Kafka may show a committed
 * offset before the results of its transaction, so the ends count open transactions. Closes itself
 * after an error that no retry repairs, and after some time without a wait. Then open another one.
 */
export class ResultFeed {
  /** By player, because a result has its player as key. */
  readonly #waits = new Map<string, Set<ResultWait>>();
  /** Waits whose events the group has passed. They end when all results of that moment are read. */
  readonly #passed = new WeakSet<ResultWait>();
  readonly #boards = new PublishedBoards();
  readonly #admin: Admin;
  readonly #closed = new AbortController();
  readonly #followers: Promise<readonly TopicFollower[]>;
  readonly #running: Promise<void>[] = [];
  /** Ends after `close`, once the last look at the offsets has its answer. */
  #polling: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ResultFeedOptions) {
    this.#admin = options.kafka.admin();
    this.#followers = this.#open();
    this.#followers.then(
      () => {
        this.#polling = this.#poll();
      },
      (error: unknown) => this.#end(error),
    );
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /**
   * Adds a wait. Resolves once the ends of the result topics are known: the results of any event
   * sent later will be read.
   */
  async join(wait: ResultWait): Promise<void> {
    clearTimeout(this.#idle);
    const { playerId } = wait.event;
    const waits = this.#waits.get(playerId) ?? new Set();
    this.#waits.set(playerId, waits.add(wait));
    await this.#followers;
  }

  leave(wait: ResultWait): void {
    const { playerId } = wait.event;
    const waits = this.#waits.get(playerId);
    waits?.delete(wait);
    if (waits?.size === 0) this.#waits.delete(playerId);
    if (this.#waits.size === 0 && !this.isClosed)
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  /** Fails the waits that are left. */
  async close(reason = 'the producer was disconnected', cause?: unknown): Promise<void> {
    if (this.isClosed) return;
    this.#closed.abort();
    clearTimeout(this.#idle);
    for (const wait of this.#all()) wait.fail(reason, cause);
    await this.#followers.catch(() => undefined); // the waits have failed already
    await Promise.allSettled(this.#running);
    await this.#admin.disconnect();
    // kafkajs connects again for a request whose connection was closed.
    this.#polling.then(() => this.#admin.disconnect()).catch(() => undefined);
  }

  async #open(): Promise<readonly TopicFollower[]> {
    const { topics } = this.options;
    await this.#admin.connect();
    return Promise.all([
      this.#follow(topics.rankChanges, 'end', (record) =>
        this.#take(record, 'ce_id', () => ({ status: 'ranked', change: decodeRankChange(record) })),
      ),
      this.#follow(topics.deadLetters, 'end', (record) => {
        const letter = decodeDeadLetter(record);
        if (letter !== undefined)
          this.#take(record, 'ranklog_id', () => ({ status: 'deadLetter', letter }));
      }),
      this.#follow(topics.definitions, 'start', (record, partition) =>
        this.#takeDefinition(record, partition),
      ),
    ]);
  }

  async #follow(topic: string, begin: 'start' | 'end', take: TakeRecord) {
    const { kafka } = this.options;
    const ranges = await logRanges(kafka, topic);
    const from = new Map([...ranges].map(([partition, range]) => [partition, range[begin]]));
    const { signal } = this.#closed;
    const logger = kafka.logger();
    const follower = await TopicFollower.open({ kafka, topic, from, signal, logger });
    this.#running.push(follower.run(take).catch((error: unknown) => this.#end(error)));
    return follower;
  }

  #end(error: unknown): void {
    const reason = `reading results failed: ${toError(error).message}`;
    this.close(reason, error).catch(() => undefined); // the waits have the first error
  }

  #take(record: KafkaRecord, idHeader: string, read: () => SendOutcome): void {
    const waits = this.#waits.get(record.key?.toString() ?? '');
    if (waits === undefined) return;
    const cause = headerText(record, idHeader) ?? '';
    for (const wait of waits) wait.take(cause, read);
  }

  #takeDefinition(record: KafkaRecord, partition: number): void {
    try {
      if (record.key?.toString() === IDENTITY_KEY)
        this.#boards.group = groupOf(record) ?? this.#boards.group;
      else if (isOfBoard(record)) this.#boards.take(decodeStoredDefinition(record));
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      const { kafka, topics } = this.options;
      const place = `${topics.definitions}/${partition} offset ${record.offset}`;
      kafka.logger().warn(`${place} is ${error.message}; the record is skipped`);
    }
  }

  #all(): ResultWait[] {
    return [...this.#waits.values()].flatMap((waits) => [...waits]);
  }

  /** Errors are retried: each wait has a time limit of its own. */
  async #poll(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#settlePassed().catch(() => undefined);
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Settles the waits whose events the group has passed. Does not wait for partitions of results
   * that are read slowly.
   */
  async #settlePassed(): Promise<void> {
    const { topics, ranklogGroup = this.#boards.group } = this.options;
    const open = this.#all().filter((wait) => wait.at !== undefined && !this.#passed.has(wait));
    if (open.length === 0 || ranklogGroup === undefined) return;
    const committed = await committedOffsets(this.#admin, ranklogGroup, topics.scoreEvents);
    for (const [partition, offset] of committed) {
      const passed = open.filter(({ at }) => at?.partition === partition && at.offset < offset);
      if (passed.length === 0) continue;
      for (const wait of passed) this.#passed.add(wait);
      this.#settleOnceRead(passed, partition).catch(() => {
        for (const wait of passed) this.#passed.delete(wait);
      });
    }
  }

  /**
   * Settles waits without a result once the definitions and a partition of the results were read up
   * to their present ends.
   */
  async #settleOnceRead(waits: readonly ResultWait[], partition: number): Promise<void> {
    const followers = await this.#followers;
    const ends = await Promise.all(followers.map(({ topic }) => this.#ends(topic, partition)));
    const reads = followers.map((follower, index) => follower.reach(ends[index] ?? new Map()));
    await Promise.all(reads).catch((error: unknown) => this.#end(error));

    // A wait whose result was among the results that were read keeps that outcome.
    for (const wait of waits) {
      const publishesAll = this.#boards.publishesAll(wait.event.board);
      wait.settle(() => ({ status: publishesAll ? 'unchanged' : 'unpublished' }));
    }
  }

  /** The present ends of the definitions, or of one partition of a result topic. */
  async #ends(topic: string, partition: number): Promise<ReadonlyMap<number, number>> {
    const { kafka, topics } = this.options;
    if (topic !== topics.definitions) {
      const { end } = await logRange(kafka, topic, partition, 'written');
      return new Map([[partition, end]]);
    }
    const ranges = await logRanges(kafka, topic);
    return new Map([...ranges].map(([id, { end }]) => [id, end]));
  }
}

/** The fields of a definition record that PublishedBoards uses. */
interface StoredRecord {
  readonly since: number;
  readonly definition: { readonly publish?: PublishFields } | null;
}

/** Which boards publish every rank change, by the records of the definitions topic. */
class PublishedBoards {
  readonly #newest = new Map<string, StoredRecord>();
  /** The consumer group of ranklog's ingest. */
  group: string | undefined;

  take(record: ReturnType<typeof decodeStoredDefinition>): void {
    const known = this.#newest.get(record.board);
    if (known === undefined || known.since <= record.since) this.#newest.set(record.board, record);
  }

  /** False also for a board without a live definition. */
  publishesAll(board: string): boolean {
    const definition = this.#newest.get(board)?.definition ?? null;
    return definition !== null && publishesAll(definition.publish ?? {});
  }
}

/** The consumer group in an identity record; undefined if it can't be read. */
function groupOf({ value }: KafkaRecord): string | undefined {
  const { group } = parseObject(value?.toString() ?? '') ?? {};
  return typeof group === 'string' ? group : undefined;
}

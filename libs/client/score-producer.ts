import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import {
  cloudEventHeaders,
  decodeText,
  SCORE_EVENT_TYPE,
  topicNames,
  type ScoreEvent,
  type Source,
} from '#contracts';
import { allOf } from '#errors';
import {
  isPermanent,
  KafkaUnreachableError,
  limitedProducer,
  NEW_TOPIC_MS,
  partitionOf,
  patchKafkajs,
  requireTopics,
} from '#kafka-batch';
import {
  InvalidScoreEventError,
  SendError,
  TransactionFailedError,
  type EventPosition,
} from './client-errors.js';
import { ResultFeed, type ResultFeedOptions } from './result-feed.js';
import { publishesAll, ResultWait, type PlaceReader, type SendOutcome } from './result-wait.js';
import { ScoreTransactions } from './score-transactions.js';
import { byPartition, sendChunks } from './send-chunks.js';

export interface ScoreProducerOptions {
  readonly kafka: Kafka;
  readonly topicPrefix?: string;
  /** CloudEvents source of the events. */
  readonly source?: string;
  /**
   * The consumer group of ranklog's ingest; by default `sendAndWait` reads it from the definitions
   * topic.
   */
  readonly ranklogGroup?: string;
  /**
   * A BoardReader: with it, `sendAndWait` adds the player's present places to an outcome without a
   * rank change.
   */
  readonly reader?: PlaceReader;
  /**
   * For `send` with `transaction: true`. Unique per process: processes that share it make each
   * other's transactions fail.
   */
  readonly transactionalId?: string;
}

export interface SendOptions {
  /**
   * Kafka gets all events of the list in one transaction, or none of them. Needs a
   * `transactionalId`.
   */
  readonly transaction?: boolean;
}

/** How long `sendAndWait` waits for the places: the outcome is known by then. */
const MOST_PLACES_MS = 1_000;

/** About 25 days: Node ends longer timeouts at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

function clampedMs(timeoutMs: number): number {
  return Math.max(0, Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
}

/** Reads the places first: a reader that refuses them gets no further request. */
async function placesAndPublishing(reader: PlaceReader, event: ScoreEvent, time: number) {
  const places = await reader.placesOfEvent(event, time);
  const { definition } = await reader.board(event.board);
  return { places, publishesAll: publishesAll(definition.publish) };
}

/**
 * Sends score events: validates them first, keys them by player, so that a player's events stay in
 * order, and retries without duplicates. A board can still refuse an event (unknown column, ...)
 * when ranklog applies it.
 */
export class ScoreProducer {
  readonly #producer: Producer;
  readonly #topic: string;
  readonly #source: string;
  /** The number of partitions that kafkajs knew at the last send; 0 before the first one. */
  #partitions = 0;
  readonly #feedOptions: ResultFeedOptions;
  readonly #reader: PlaceReader | undefined;
  #feed: ResultFeed | undefined;
  /** Undefined before the first connection, after a failed one, and after `disconnect`. */
  #connected: Promise<void> | undefined;
  #isClosed = false;
  /** When the broker appended a message, in ms, if it dates the records of the topic. */
  readonly #appendedAt = new WeakMap<Message, number>();
  readonly #transactions: ScoreTransactions | undefined;
  #inFlight = 0;

  constructor(options: ScoreProducerOptions) {
    const { kafka, topicPrefix, source = '/ranklog/client', ranklogGroup } = options;
    patchKafkajs();
    this.#producer = limitedProducer(kafka, {
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: () => (args) => {
        this.#partitions = args.partitionMetadata.length;
        return args.message.partition ?? partitionOf(String(args.message.key), this.#partitions);
      },
      retry: { initialRetryTime: 100, retries: 10 },
    });
    const topics = topicNames(topicPrefix);
    this.#topic = topics.scoreEvents;
    this.#source = source;
    this.#feedOptions = { kafka, topics, ranklogGroup };
    this.#reader = options.reader;
    const { transactionalId: id } = options;
    if (id !== undefined) this.#transactions = new ScoreTransactions(kafka, this.#topic, id);
  }

  /**
   * How many records wait for Kafka, or for their outcome in `sendAndWait`. An event whose
   * `sendAndWait` has timed out takes memory until Kafka has answered, so it counts until then.
   */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Call this to learn at the start whether Kafka answers and has the topic; the first send
   * connects, too.
   * @throws TopicsMissingError, KafkaUnreachableError after about 10 s without Kafka
   */
  async connect(): Promise<void> {
    this.#isClosed = false;
    // Two connections at a time would begin two idempotent sessions of kafkajs, and break the
    // first.
    this.#connected ??= this.#connect();
    try {
      await this.#connected;
    } catch (error) {
      this.#connected = undefined;
      throw error;
    }
  }

  async #connect(): Promise<void> {
    const begin = performance.now();
    const admin = this.#feedOptions.kafka.admin();
    try {
      // A send to a missing topic would be retried for a minute, and not name the prefix.
      await admin.connect();
      await requireTopics(admin, [this.#topic], NEW_TOPIC_MS);
      await this.#producer.connect();
    } catch (error) {
      if (isPermanent(error)) throw error;
      throw new KafkaUnreachableError(Math.round(performance.now() - begin), error);
    } finally {
      await admin.disconnect();
    }
  }

  /** Rejects the calls of `sendAndWait` that still wait. Sends fail afterwards. */
  async disconnect(): Promise<void> {
    this.#isClosed = true;
    this.#connected = undefined;
    await this.#feed?.close();
    await this.#transactions?.close();
    await this.#producer.disconnect();
  }

  /**
   * Sends an event or a list, in order within each partition. Resolves when all in-sync replicas
   * have them, with the place of each.
   * @throws InvalidScoreEventError before any is sent; SendError, or TransactionFailedError of a
   * transaction; TypeError for a transaction without a `transactionalId`
   */
  async send(
    events: ScoreEvent | readonly ScoreEvent[],
    { transaction = false }: SendOptions = {},
  ): Promise<Source[]> {
    const list: ScoreEvent[] = [events].flat();
    const messages = list.map((event, index) => this.#listed(event, index));
    const places = await (transaction ? this.#transact(messages) : this.sendMessages(messages));
    return messages.flatMap((message) => places.get(message) ?? []);
  }

  /**
   * Sends an event and waits until ranklog has applied it. Resolves with its committed rank change
   * or dead letter. If the event has neither, resolves about half a second later, once ranklog's
   * group has committed past the event. If the board publishes only some rank changes, such as
   * `moved`, a duplicate and an event that moved no player are both `unpublished`. With a `reader`,
   * these two have the player's present places, if they are read within a second and within
   * `timeoutMs`.
   *
   * While calls wait, and 5 s longer, the producer reads all rank changes and dead letters from
   * Kafka, once for all calls.
   * @throws InvalidScoreEventError, SendError, or ResultUnknownError after `timeoutMs`, which
   * includes the time to send, and if reading fails or the producer is disconnected; RangeError if
   * `timeoutMs` is negative or NaN
   */
  async sendAndWait(
    event: ScoreEvent,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<SendOutcome> {
    if (!(timeoutMs >= 0)) throw new RangeError(`timeoutMs is ${timeoutMs}; it must be 0 or more`);
    const begin = Date.now();
    const message = this.#listed(event, 0);
    const wait = new ResultWait(this.#topic, event);
    if (this.#feed === undefined || this.#feed.isClosed)
      this.#feed = new ResultFeed(this.#feedOptions);
    const feed = this.#feed;
    const timer = setTimeout(
      () => wait.fail(`no result after ${timeoutMs} ms`),
      clampedMs(timeoutMs),
    );
    let sent: Promise<void> = Promise.resolve();
    this.#inFlight++;
    try {
      await Promise.race([feed.join(wait), wait.outcome]);
      const sentAt = Date.now();
      sent = this.#sendMessages([message]).then((places) => {
        for (const at of places.values()) wait.acknowledged(at);
      });
      await Promise.race([sent, wait.outcome]);
      const outcome = await wait.outcome;
      if (outcome.status === 'ranked' || outcome.status === 'deadLetter') return outcome;

      // The record's timestamp decides the windows of an event without a time.
      const time = this.#appendedAt.get(message) ?? sentAt;
      const read = await this.#readPlaces(event, time, begin + timeoutMs - Date.now());
      if (read === undefined) return outcome;
      return { status: read.publishesAll ? outcome.status : 'unpublished', places: read.places };
    } finally {
      clearTimeout(timer);
      feed.leave(wait);
      const settled = () => {
        this.#inFlight--;
      };
      sent.then(settled, settled);
    }
  }

  /**
   * Reads the player's places from Redis, after the event was applied, and whether the board
   * publishes every rank change. The live definition may not be in the definitions topic yet.
   * Undefined without a reader, after a second or `timeoutMs`, and if the read fails.
   */
  async #readPlaces(event: ScoreEvent, time: number, timeoutMs: number) {
    const reader = this.#reader;
    if (reader === undefined) return undefined;
    const read = placesAndPublishing(reader, event, time).catch(() => undefined);
    const end = new AbortController();
    const ms = clampedMs(Math.min(timeoutMs, MOST_PLACES_MS));
    const late = delay(ms, undefined, { ref: false, signal: end.signal });
    try {
      return await Promise.race([read, late.catch(() => undefined)]);
    } finally {
      end.abort();
    }
  }

  /**
   * The message of a score event, with its JSON text unchanged.
   * @throws InvalidScoreEventError with the given position
   */
  toMessage(json: string, position?: EventPosition): Message {
    const decoded = decodeText(json);
    if (!decoded.ok) throw new InvalidScoreEventError(decoded.code, decoded.detail, position);
    const { playerId, eventId } = decoded.event;
    const id = eventId ?? randomUUID();
    const headers = cloudEventHeaders({ id, type: SCORE_EVENT_TYPE, source: this.#source });
    return { key: playerId, value: json, headers };
  }

  /**
   * Sends messages made by toMessage, in order within each partition. After a failure, the log may
   * hold any number of the first messages of each partition. Each send has messages of one
   * partition: when leaders move during a send to several brokers, kafkajs may drop messages or
   * send them twice. The very first message is sent alone, so that kafkajs learns the partitions.
   * @returns where Kafka put each message
   * @throws SendError
   */
  async sendMessages(messages: readonly Message[]): Promise<ReadonlyMap<Message, Source>> {
    return this.#counted(messages, () => this.#sendMessages(messages));
  }

  #transact(messages: readonly Message[]): Promise<ReadonlyMap<Message, Source>> {
    const transactions = this.#transactions;
    if (transactions === undefined)
      throw new TypeError('a transaction needs the option transactionalId of the ScoreProducer');
    if (this.#isClosed)
      throw new TransactionFailedError(this.#topic, new Error('the producer is disconnected'));
    return this.#counted(messages, () => transactions.send(messages));
  }

  /** Counts the messages as in flight while they are sent. */
  #counted<T>(messages: readonly Message[], send: () => Promise<T>): Promise<T> {
    this.#inFlight += messages.length;
    return send().finally(() => {
      this.#inFlight -= messages.length;
    });
  }

  /** Like sendMessages, without counting what is in flight. */
  async #sendMessages(messages: readonly Message[]): Promise<ReadonlyMap<Message, Source>> {
    const acknowledged = new Map<Message, Source>();
    try {
      await this.#sendAll(messages, acknowledged);
      return acknowledged;
    } catch (error) {
      const index = messages.findIndex((message) => !acknowledged.has(message));
      const first = { index, playerId: String(messages[index]?.key) };
      throw new SendError(this.#topic, first, acknowledged.size, error);
    }
  }

  async #sendAll(messages: readonly Message[], acknowledged: Map<Message, Source>): Promise<void> {
    if (!this.#isClosed) await this.connect();
    const alone = this.#partitions === 0 ? messages.slice(0, 1) : [];
    await this.#send(alone, acknowledged);
    const parts = byPartition(messages.slice(alone.length), this.#partitions);
    await allOf(
      [...parts].map(([partition, placed]) => this.#send(placed, acknowledged, { partition })),
    );
  }

  async #send(
    messages: readonly Message[],
    acknowledged: Map<Message, Source>,
    place: { readonly partition?: number } = {},
  ): Promise<void> {
    const topic = this.#topic;
    for (const chunk of sendChunks(messages)) {
      const placed = chunk.map((message) => ({ ...message, ...place }));
      const [sent] = await this.#producer.send({ topic, messages: placed, acks: -1 });
      const partition = sent?.partition ?? NaN;
      const first = Number(sent?.baseOffset);
      const appendedAt = Number(sent?.logAppendTime ?? -1);
      for (const [index, message] of chunk.entries()) {
        acknowledged.set(message, { topic, partition, offset: first + index });
        if (appendedAt >= 0) this.#appendedAt.set(message, appendedAt);
      }
    }
  }

  #listed(event: ScoreEvent, index: number): Message {
    const { playerId } = event;
    return this.toMessage(JSON.stringify(event), { topic: this.#topic, index, playerId });
  }
}

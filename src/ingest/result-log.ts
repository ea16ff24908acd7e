import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { BoardStore, IdentityCheck, type Verdict } from '#board-store';
import {
  causeId,
  encodeDeadLetter,
  encodeLeaderChange,
  encodeRankChange,
  formatTime,
  leaderMovements,
  type TopicNames,
} from '#contracts';
import { allOf, toError } from '#errors';
import {
  Batched,
  type BatchEncoder,
  type OutgoingRecord,
  partitionCount,
  PermanentPartitionError,
  ProducerFencedError,
  RecordTooLargeError,
  TransactionalPublisher,
} from '#kafka-batch';
import { KafkaConnection } from '../infra/kafka.js';
import { maxMessageBytes, TopicsMissingError } from '../infra/topics.js';
import { encodeTimes, latestTimes, type ContinuityTimes } from './continuity-times.js';
import type { ReportedDeadLetter } from './dead-letter-report.js';
import { NeedsOperatorError } from './ingest-errors.js';
import { PublishedPositions } from './published-positions.js';
import type { ReadRecord } from './read-record.js';

/**
 * Keeps requests below 100 MiB, which a broker accepts by default (socket.request.max.bytes),
 * whatever the topic allows.
 */
const MAX_REQUEST_BYTES = 64 * 1_024 * 1_024;
const MAX_CONCURRENT_FENCINGS = 8;
const MAX_FENCINGS = 10;
const MAX_FENCED_PAUSE_MS = 100;

/** A record for a result topic. It goes to the partition with the number of the score partition. */
export interface Result {
  readonly topic: string;
  readonly board: string;
  readonly record: OutgoingRecord;
  /** Set for a dead letter. */
  readonly deadLetter?: ReportedDeadLetter;
}

/**
 * The results of one transaction by topic, with their counts by board. `nextOffset` is the
 * published position once they are in Kafka.
 */
export interface Publication {
  readonly results: Map<string, { batches: BatchEncoder; counts: Map<string, number> }>;
  readonly deadLetters: ReportedDeadLetter[];
  nextOffset: number;
  /** How many results there are; a large result counts as several. */
  weight: number;
}

/**
 * The only publisher that can commit for a partition, and the times of the Redis servers on which
 * its results are computed.
 */
export interface OpenPublisher {
  readonly partition: number;
  readonly publisher: TransactionalPublisher;
  readonly continuity: ContinuityTimes;
}

/** max.message.bytes by topic. */
type Limits = ReadonlyMap<string, number>;

/**
 * The result topics and the published position: all state of ingest that is in Kafka. Results of
 * score partition p go to partition p of the result topics. One transactional producer at a time
 * writes a partition.
 */
@Injectable()
export class ResultLog {
  readonly #topics: TopicNames;
  /** By partition: the size limits of the result topics when the partition started. */
  readonly #limits = new Map<number, Limits>();
  readonly #positions: PublishedPositions;
  readonly #maxBytes = new Batched<string, number>((topics) =>
    mapOf(topics, (topic) => maxMessageBytes(this.connection.admin, topic)),
  );

  constructor(
    private readonly connection: KafkaConnection,
    @Inject(IdentityCheck) private readonly identity: Pick<IdentityCheck, 'group'>,
    store: BoardStore,
  ) {
    this.#topics = connection.topics;
    this.#positions = new PublishedPositions(connection, identity.group, store);
  }

  /**
   * Checks that the result topics have the partition, and reads their size limits.
   * @throws NeedsOperatorError
   */
  async checkPartition(partition: number): Promise<void> {
    const counts = await mapOf(this.#positions.resultTopics, (topic) =>
      partitionCount(this.connection.kafka, topic),
    );
    for (const [topic, count] of counts) {
      if (count > partition) continue;
      throw new NeedsOperatorError(
        `topic ${topic} has ${count} partition(s), so it lacks partition ${partition}, where ` +
          `the results of score partition ${partition} belong; run "ranklog topics", which ` +
          `creates missing topics and partitions. Until then, score partition ${partition} ` +
          'waits',
      );
    }

    this.#limits.set(partition, await this.#readLimits());
  }

  /** Fences all earlier publishers of the partition: they can't commit any more. */
  openPublisher(partition: number): Promise<TransactionalPublisher> {
    const transactionalId = `${this.identity.group}-${this.#topics.scoreEvents}-${partition}`;
    return TransactionalPublisher.open(this.connection.kafka, transactionalId);
  }

  /**
   * The first offset whose results are not in Kafka; final for a partition whose publishers are
   * fenced.
   */
  publishedPosition(partition: number): Promise<number> {
    return this.#positions.of(partition);
  }

  /** By shard, the time of the newest server of Redis on which results were computed. */
  newestContinuity(): Promise<ContinuityTimes> {
    return this.#positions.newestContinuity();
  }

  /** As newestContinuity, but up to some seconds old: for frequent checks. */
  recentContinuity(): Promise<ContinuityTimes> {
    return this.#positions.recentContinuity();
  }

  /**
   * Fences the publishers of all partitions and returns the published positions, which are then
   * final. Processes that publish these partitions start them again. Commits `continuity` with each
   * position, so that from then on no partition starts on an older server. After a failure, opens
   * no further publishers.
   * Cost: about fourteen requests per partition.
   * @throws TopicsMissingError
   */
  async finalPositions(continuity: ContinuityTimes): Promise<Map<number, number>> {
    const { scoreEvents } = this.#topics;
    const count = await partitionCount(this.connection.kafka, scoreEvents);
    if (count === 0) throw new TopicsMissingError([scoreEvents]);

    const partitions = Array.from({ length: count }, (_, partition) => partition);
    const limit = pLimit(MAX_CONCURRENT_FENCINGS);
    let failure: Error | undefined;
    const finalPosition = async (partition: number) => {
      if (failure !== undefined) throw failure;
      try {
        return [partition, await this.#finalPosition(partition, continuity)] as const;
      } catch (error) {
        failure ??= toError(error);
        throw error;
      }
    };
    // After a failure, also waits for the fencings under way: they would fence the next attempt.
    return new Map(await allOf(partitions.map((partition) => limit(finalPosition, partition))));
  }

  /**
   * Commits `continuity`, and returns the final position. A start of the partition, or another
   * resync, may fence this publisher; then it opens a new one, which fences the other publisher.
   */
  async #finalPosition(partition: number, continuity: ContinuityTimes): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#commitContinuity(partition, continuity);
      } catch (error) {
        if (!(error instanceof ProducerFencedError) || attempt === MAX_FENCINGS) throw error;
        await delay(Math.random() * MAX_FENCED_PAUSE_MS); // two resyncs must not stay in step
      }
    }
  }

  /** Fences the publisher of a partition, and commits its position again, with `continuity`. */
  async #commitContinuity(partition: number, continuity: ContinuityTimes): Promise<number> {
    const publisher = await this.openPublisher(partition);
    try {
      const [position, before] = await Promise.all([
        this.publishedPosition(partition),
        this.newestContinuity(),
      ]);
      const times = latestTimes(before, continuity);
      const offset = this.#groupOffset(partition, position, times);
      await publisher.publish({ records: [], offset });
      return position;
    } finally {
      await publisher.close();
    }
  }

  /** The record that reports a verdict on a record of the score topic. */
  encode(partition: number, verdict: Verdict, { record, event }: ReadRecord): Result {
    const { scoreEvents, rankChanges, leaderChanges, deadLetters } = this.#topics;
    const source = { topic: scoreEvents, partition, offset: verdict.offset };

    if (verdict.kind === 'deadLetter') {
      const maxBytes = this.maxBytes(partition, deadLetters);
      const { code: reason, detail } = verdict;
      const board = reason === 'UNKNOWN_BOARD' ? '' : (event?.board ?? '');
      const letter = encodeDeadLetter(source, record, verdict, maxBytes);
      const deadLetter = { reason, board, id: causeId(source), detail };
      return { topic: deadLetters, board, record: letter, deadLetter };
    }

    if (event === undefined)
      throw new Error(
        `the outbox has a result for ${scoreEvents}/${partition}/${verdict.offset}, which is ` +
          'no score event; is this another topic under the same name?',
      );

    const { board, playerId, eventId } = event;
    const { generation } = verdict;
    const occurredAt = formatTime(event.occurredAt ?? record.timestamp);
    if (verdict.kind === 'rankChange') {
      const change = { board, generation, playerId, source, eventId, occurredAt };
      const message = encodeRankChange(change, `[${verdict.changes}]`);
      return { topic: rankChanges, board, record: message };
    }

    const { view, version, since, top, before } = verdict;
    const movements = leaderMovements(since === null ? [] : before, top);
    const change = { board, generation, source, occurredAt, view, version, since, top };
    const message = encodeLeaderChange({ ...change, ...movements });
    return { topic: leaderChanges, board, record: message };
  }

  /**
   * Publishes results, position and `continuity` in one transaction.
   * @throws the errors of TransactionalPublisher.publish
   */
  async publish(
    { partition, publisher, continuity }: OpenPublisher,
    { results, nextOffset }: Publication,
  ): Promise<void> {
    const records = [...results].map(([topic, { batches }]) => {
      return { topic, partition, batches: batches.close() };
    });
    try {
      const offset = this.#groupOffset(partition, nextOffset, continuity);
      await publisher.publish({ records, offset });
    } catch (error) {
      if (error instanceof RecordTooLargeError) throw await this.#sizeError(partition, error);
      throw error;
    }
  }

  #groupOffset(partition: number, offset: number, continuity: ContinuityTimes) {
    return {
      groupId: this.identity.group,
      topic: this.#topics.scoreEvents,
      partition,
      offset,
      metadata: encodeTimes(continuity),
    };
  }

  /**
   * Results are encoded for the limits at the start of the partition. If these limits still hold,
   * the refused result can't be made smaller.
   */
  async #sizeError(partition: number, cause: RecordTooLargeError): Promise<Error> {
    const before = this.#limits.get(partition);
    const now = await this.#readLimits();
    const isChanged = [...now].some(([topic, bytes]) => bytes !== before?.get(topic));
    const limits = [...now].map(([topic, bytes]) => `${topic} takes ${bytes} bytes`).join(', ');
    if (isChanged)
      return new Error(
        `max.message.bytes of a result topic has changed (now ${limits}); the partition ` +
          'starts again with the new limit',
        { cause },
      );
    return new PermanentPartitionError(
      `Kafka refuses a result for its size (${limits}); raise max.message.bytes of the ` +
        'topic, then restart ranklog: nothing is lost meanwhile',
      { cause },
    );
  }

  /** The most bytes of a batch for a result topic, as read when the partition started. */
  maxBytes(partition: number, topic: string): number {
    return Math.min(this.#limits.get(partition)?.get(topic) ?? Infinity, MAX_REQUEST_BYTES);
  }

  #readLimits(): Promise<Limits> {
    return mapOf(
      this.#positions.resultTopics,
      async (topic) => (await this.#maxBytes.get(topic)) ?? Infinity,
    );
  }
}

/** Reads the values of all keys at the same time. */
async function mapOf<Key, Value>(
  keys: readonly Key[],
  read: (key: Key) => Promise<Value>,
): Promise<Map<Key, Value>> {
  return new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const)));
}

import type { LiveBoard } from '#board-store';
import {
  isUnauthorized,
  lastCommittedRecord,
  logRanges,
  orUnreadable,
  UnreadableBatchError,
  type LogRange,
} from '#kafka-batch';
import type { KafkaConnection } from '../../infra/kafka.js';
import type { Stores } from '../../infra/stores.js';
import { closingProblems } from '../../infra/topics.js';
import { ReplacedServerError, requireNewest, timeOf } from '../../ingest/continuity-times.js';
import { PublishedPositions } from '../../ingest/published-positions.js';

export type Ends = ReadonlyMap<number, number>;

/** The ends of the score topic, and whether all records before them are published. */
export class ScoreLogEnds {
  readonly #topic: string;
  readonly #positions: PublishedPositions;

  constructor(
    private readonly connection: Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>,
    group: string,
    private readonly stores: Pick<Stores, 'store' | 'continuity'>,
  ) {
    this.#topic = connection.topics.scoreEvents;
    this.#positions = new PublishedPositions(connection, group, stores.store);
  }

  /**
   * The end of each partition, including records of open transactions.
   * Cost: two requests to each leader.
   */
  async written(): Promise<Ends> {
    const ranges = await logRanges(this.connection.kafka, this.#topic, 'written');
    return new Map([...ranges].map(([partition, { end }]) => [partition, end]));
  }

  /**
   * Why these boards with closing windows may lack a record below the ends, or can't be announced.
   * Undefined if they have all records, and will have them even after a loss of Redis. Checks only
   * the partitions in `ends`, so not those that were added after it was read.
   * Cost: two requests for the topics, two to each leader, three for the positions, one for each
   * board; for each partition that is behind, searches for the ends of its log and of its results.
   */
  async missing(ends: Ends, boards: readonly LiveBoard[]): Promise<string | undefined> {
    const { admin, topics } = this.connection;
    const names = boards.map(({ board }) => board);
    const [problem] = await closingProblems(admin, topics, names);
    if (problem !== undefined) return problem;

    const stored = await this.#positions.stored();
    // Read the ends of the log after the positions: a log never ends before a position in it.
    const committed = await logRanges(this.connection.kafka, this.#topic);
    for (const [partition, end] of ends) {
      const position = stored.get(partition) ?? 0;
      const { start = 0, end: logEnd = 0 } = committed.get(partition) ?? {};
      const place = `${this.#topic}/${partition}`;
      if (position > logEnd)
        return (
          `${place} ends at offset ${logEnd}, below its published position ${position}: it was ` +
          'created again'
        );
      if (logEnd < end)
        return `a transaction of ${place} is open at offset ${logEnd}, below ${end}`;

      const reason = await this.#unpublished(partition, { start, end }, position);
      if (reason !== undefined) return reason;
    }
    return this.#replacedServer(names);
  }

  /**
   * Why the servers of these boards must not be read: a Redis server that was replaced lacks the
   * records that were published since.
   */
  async #replacedServer(boards: readonly string[]): Promise<string | undefined> {
    const { store, continuity } = this.stores;
    const newest = await this.#positions.newestContinuity();

    const used = new Map<number, number>();
    for (const shard of new Set(boards.map((board) => store.shardOf(board)))) {
      const { token } = await continuity.continuity(shard);
      used.set(shard, timeOf(token));
    }

    try {
      requireNewest(used, newest);
      return undefined;
    } catch (error) {
      if (error instanceof ReplacedServerError) return error.message;
      throw error;
    }
  }

  /** Why records of a partition before `end` are not published; undefined if they all are. */
  async #unpublished(
    partition: number,
    { start, end }: LogRange,
    stored: number,
  ): Promise<string | undefined> {
    if (stored >= end) return undefined;
    const published = await this.#publishedPosition(partition, stored);
    if (published >= end) return undefined;

    const { kafka } = this.connection;
    const last = await lastCommittedRecord(kafka, this.#topic, partition).catch(orUnreadable);
    const place = `${this.#topic}/${partition} is published up to offset ${published}, not ${end}`;
    if (last instanceof UnreadableBatchError) return `${place}: ${last.message}`;
    if (start > published) return `${place}: the log begins at ${start}, so records are lost`;
    // After the last record, the log has only transaction markers, which need no publication.
    const hasUnpublished = last !== undefined && last.offset >= published;
    return hasUnpublished ? place : undefined;
  }

  /**
   * The published position of a partition. Returns `stored` if ranklog must not read results here:
   * only the role `ingest` needs that right.
   */
  async #publishedPosition(partition: number, stored: number): Promise<number> {
    try {
      return await this.#positions.of(partition);
    } catch (error) {
      if (isUnauthorized(error)) return stored;
      throw error;
    }
  }
}

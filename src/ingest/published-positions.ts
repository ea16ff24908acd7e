import type { BoardStore } from '#board-store';
import { headerText } from '#contracts';
import {
  Batched,
  committedOffsets,
  committedWithMetadata,
  lastCommittedRecord,
  type KafkaRecord,
} from '#kafka-batch';
import type { KafkaConnection } from '../infra/kafka.js';
import { decodeTimes, latestTimes, type ContinuityTimes } from './continuity-times.js';

/** The largest age of `recentContinuity`: half of the time between two checks of a partition. */
const RECENT_MS = 5_000;

/**
 * The published positions of score partitions. Each is the largest of three: the committed offset
 * of the group, the position in Redis, and the one after the last result. Any of them may be
 * missing or too small: Kafka deletes the committed offsets of a group without members, and may
 * show the offset of a finished transaction later than its records; Redis may lose data; old
 * results are deleted.
 */
export class PublishedPositions {
  readonly #scoreEvents: string;
  readonly resultTopics: readonly string[];
  readonly #stored = new Batched<number, number>(() => this.stored());
  readonly #newest = new Batched<'all', ContinuityTimes>(async () => {
    return new Map([['all', await this.#readNewest()]]);
  });
  #recent: { readonly at: number; readonly times: Promise<ContinuityTimes> } | undefined;

  constructor(
    private readonly connection: Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>,
    private readonly group: string,
    private readonly store: Pick<BoardStore, 'publishedPositions'>,
  ) {
    const { scoreEvents, rankChanges, leaderChanges, deadLetters } = connection.topics;
    this.#scoreEvents = scoreEvents;
    this.resultTopics = [rankChanges, leaderChanges, deadLetters];
  }

  /**
   * The first offset whose results are not in Kafka; final for a partition whose publishers are
   * fenced.
   */
  async of(partition: number): Promise<number> {
    const [stored = 0, ...afterCauses] = await Promise.all([
      this.#stored.get(partition),
      ...this.resultTopics.map((topic) => this.#afterLastCause(topic, partition)),
    ]);
    return Math.max(stored, ...afterCauses);
  }

  /**
   * By shard, the time of the newest server of Redis on which results were computed.
   * Cost: one request, with the metadata of all partitions.
   */
  async newestContinuity(): Promise<ContinuityTimes> {
    return (await this.#newest.get('all')) ?? [];
  }

  /** As newestContinuity, but up to RECENT_MS old: all partitions of a process share it. */
  recentContinuity(): Promise<ContinuityTimes> {
    const now = performance.now();
    if (this.#recent === undefined || now - this.#recent.at > RECENT_MS)
      this.#recent = { at: now, times: this.newestContinuity() };
    return this.#recent.times;
  }

  /**
   * By partition, the larger position of the two in the group and in Redis. Needs no right to read
   * results, and costs less than `of`.
   */
  async stored(): Promise<Map<number, number>> {
    const [committed, stored] = await Promise.all([
      committedOffsets(this.connection.admin, this.group, this.#scoreEvents),
      this.store.publishedPositions(),
    ]);
    for (const [partition, position] of stored)
      committed.set(partition, Math.max(position, committed.get(partition) ?? 0));
    return committed;
  }

  async #readNewest(): Promise<ContinuityTimes> {
    const { admin } = this.connection;
    const committed = await committedWithMetadata(admin, this.group, this.#scoreEvents);
    let newest: ContinuityTimes = [];
    for (const { metadata } of committed.values())
      newest = latestTimes(newest, decodeTimes(metadata));
    return newest;
  }

  /**
   * The offset after the score event that caused the last result; 0 if there is no result, or if
   * its cause is in another topic or partition.
   */
  async #afterLastCause(topic: string, partition: number): Promise<number> {
    const last = await lastCommittedRecord(this.connection.kafka, topic, partition);
    const prefix = `${this.#scoreEvents}/${partition}/`;
    const cause = causeOf(last);
    if (!cause.startsWith(prefix)) return 0;
    return Number.parseInt(cause.slice(prefix.length), 10) + 1;
  }
}

function causeOf(result: KafkaRecord | undefined): string {
  if (result === undefined) return '';
  return headerText(result, 'ranklog_id') ?? headerText(result, 'ce_id') ?? '';
}

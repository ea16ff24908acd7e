import type { Admin, Kafka } from 'kafkajs';
import { decodeRankChange, MalformedRecordError } from '#contracts';
import { logRanges, TopicFollower, type KafkaRecord, type LogRange } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { eventText } from './event-stream.js';
import { parsePosition, positionText, type LogPosition } from './log-position.js';
import { MOST_CHANGES, RecentChanges, type CommittedChange } from './recent-changes.js';

/** A rank change and its event. The id of the event is the position after it. */
export type Identified = CommittedChange & { readonly event: Buffer };
export type ChangeListener = (change: Identified) => void;

interface FeedOptions {
  readonly kafka: Kafka;
  /** Connected. */
  readonly admin: Admin;
  /** The topic of rank changes. */
  readonly topic: string;
  readonly logger: Logger;
}
type Ranges = ReadonlyMap<number, LogRange>;

/**
 * Reads all committed rank changes, and keeps the last ones. Begins before the end of the topic, so that clients of another
 * process can resume here.
 */
export class ChangeFeed {
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  readonly #position: number[];
  readonly #recent: RecentChanges;
  /** Resolves with the reason when the feed ends: it was closed, or an error that no retry repairs. */
  readonly ended: Promise<unknown>;

  private constructor(
    private readonly options: FeedOptions,
    private readonly follower: TopicFollower,
    start: LogPosition,
  ) {
    this.#position = [...start];
    this.#recent = new RecentChanges(start);
    this.ended = follower
      .run((record, partition) => this.#take(record, partition))
      .catch((error: unknown) => error);
  }

  /** Resolves when the feed has read what the topic held at the call. @throws if Kafka fails, or the reason of the signal */
  static async open(options: FeedOptions, signal: AbortSignal): Promise<ChangeFeed> {
    const { kafka, admin, topic, logger } = options;
    const ranges = await logRanges(admin, topic);
    const from = new Map<number, number>();
    const readBack = Math.floor(MOST_CHANGES / ranges.size);
    for (const [partition, { start, end }] of ranges)
      from.set(partition, Math.max(start, end - readBack));
    const follower = await TopicFollower.open({ kafka, topic, from, signal, logger });
    const start = Array.from(from, (_, partition) => from.get(partition) ?? 0);
    const feed = new ChangeFeed(options, follower, start);
    await feed.#reach(ranges);
    return feed;
  }

  get partitions(): number {
    return this.#position.length;
  }

  /** The position that the feed has reached, as the id of an event. */
  get id(): string {
    return positionText(this.#position);
  }

  /**
   * The position of an id, once this process has reached it too: another one may be ahead. undefined if it is no position of
   * this topic.
   */
  async positionOf(id: string): Promise<LogPosition | undefined> {
    const position = parsePosition(id, this.#position.length);
    if (position?.some((offset, partition) => offset > (this.#position[partition] ?? 0))) {
      const ranges = await logRanges(this.options.admin, this.options.topic);
      if (position.some((offset, partition) => offset > (ranges.get(partition)?.end ?? 0)))
        return undefined;
      await this.#reach(new Map(position.map((end, partition) => [partition, { start: 0, end }])));
    }
    return position;
  }

  /** Those rank changes from a position on that `concerns` accepts; undefined if some are no longer kept. */
  since(
    position: LogPosition,
    concerns: (change: CommittedChange) => boolean,
  ): Identified[] | undefined {
    const reached = [...position];
    return this.#recent.since(position)?.flatMap((change) => {
      reached[change.partition] = change.offset + 1;
      return concerns(change) ? identified(change, positionText(reached)) : [];
    });
  }

  /** Passes on the rank changes of a board, or of one player of it, from now on. Returns a function that ends this. */
  listen(board: string, playerId: string | undefined, listener: ChangeListener): () => void {
    const key = keyOf(board, playerId);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  #take(record: KafkaRecord, partition: number): void {
    const { offset } = record;
    this.#position[partition] = offset + 1;
    const change = this.#read(record, partition);
    if (change === undefined) return;
    const text = record.value?.toString() ?? '';
    const committed = { partition, offset, change, text };
    this.#recent.add(committed);
    const { board, playerId } = change;
    const listeners = [keyOf(board), keyOf(board, playerId)].flatMap((key) => [
      ...(this.#listeners.get(key) ?? []),
    ]);
    if (listeners.length === 0) return;
    const heard = identified(committed, this.id);
    for (const listener of listeners) listener(heard);
  }

  #read(record: KafkaRecord, partition: number) {
    try {
      return decodeRankChange(record);
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      const { topic, logger } = this.options;
      logger.warn(`${topic}/${partition} offset ${record.offset} is skipped: ${error.message}`);
      return undefined;
    }
  }

  /** @throws the reason why the feed has ended meanwhile */
  async #reach(ranges: Ranges): Promise<void> {
    const reached = [...ranges.keys()].map((partition) => this.follower.reach(partition, ranges));
    const ended = this.ended.then((reason) => Promise.reject(reason as Error));
    await Promise.race([Promise.all(reached), ended]);
  }
}

/** Ids have no control characters. */
function keyOf(board: string, playerId = ''): string {
  return `${board}\n${playerId}`;
}

function identified(change: CommittedChange, id: string): Identified {
  return { ...change, event: Buffer.from(eventText('rank-change', id, change.text)) };
}

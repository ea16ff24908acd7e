import { EventEmitter } from 'node:events';
import type { Kafka } from 'kafkajs';
import { fromEvent, type Observable } from 'rxjs';
import { decodeRankChange, MalformedRecordError, type RankChange } from '#contracts';
import { toError } from '#errors';
import { lastRecords, logRanges, TopicFollower, type KafkaRecord } from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import {
  MOST_CHANGES,
  parsePosition,
  positionText,
  RecentChanges,
  type LogPosition,
} from './recent-changes.js';

/** A rank change, and its event, whose id is the position after it. */
type NewChange = [change: RankChange, event: Buffer];

interface FeedOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Reads committed rank changes, and keeps the last ones. Ends if the topic gets partitions. */
export class ChangeFeed {
  readonly recent: RecentChanges;
  readonly #newChanges = new EventEmitter<Record<string, NewChange>>().setMaxListeners(0);
  readonly #position: number[];
  /** Resolves when the feed ends: with the abort reason, or with an error that needs a new feed. */
  readonly ended: Promise<Error>;

  private constructor(
    private readonly options: FeedOptions,
    private readonly follower: TopicFollower,
    start: LogPosition,
  ) {
    this.#position = [...start];
    this.recent = new RecentChanges(start);
    const run = follower.run((record, partition) => this.#take(record, partition));
    this.ended = Promise.race([run, follower.watchPartitions()]).catch(toError);
  }

  /**
   * Opens a feed. First reads the last rank changes: up to 1 MiB of each partition, and 10,000
   * offsets of all.
   * @throws errors of Kafka, or the abort reason
   */
  static async open(options: FeedOptions): Promise<ChangeFeed> {
    const { kafka, topic } = options;
    const ranges = [...(await logRanges(kafka, topic)).values()];
    const readBack = Math.floor(MOST_CHANGES / ranges.length);
    const past = await Promise.all(
      ranges.map((_, partition) => lastRecords(kafka, topic, partition, readBack)),
    );
    const begin = ranges.map(({ end }, partition) => past[partition]?.[0]?.offset ?? end);
    const next = begin.map((start, partition) => {
      const last = past[partition]?.at(-1);
      return last === undefined ? start : last.offset + 1;
    });

    const follower = await TopicFollower.open({ ...options, from: new Map(next.entries()) });
    const feed = new ChangeFeed(options, follower, begin);
    for (const [partition, records] of past.entries())
      for (const record of records) feed.#take(record, partition);
    return feed;
  }

  get isEnded(): boolean {
    return this.options.signal.aborted;
  }

  /** The position of the feed, as the id of an event. */
  get id(): string {
    return positionText(this.#position);
  }

  /**
   * The position of an id; undefined if the id is not of this topic. Waits until the feed reaches
   * the position: another process, which sent the id, may be ahead.
   * @throws the reason if the feed ends before
   */
  async positionOf(id: string): Promise<LogPosition | undefined> {
    const position = parsePosition(id, this.#position.length);
    if (position === undefined) return undefined;
    const isAhead = position.some((offset, partition) => offset > (this.#position[partition] ?? 0));
    if (!isAhead) return position;

    const ranges = await logRanges(this.options.kafka, this.options.topic);
    const isBeyondLog = position.some(
      (offset, partition) => offset > (ranges.get(partition)?.end ?? 0),
    );
    if (isBeyondLog) return undefined;
    const ended = this.ended.then((reason) => Promise.reject(reason));
    await Promise.race([this.follower.reach(new Map(position.entries())), ended]);
    return position;
  }

  /** The rank changes of a board, or of one of its players, from now on. */
  of(board: string, playerId?: string): Observable<NewChange> {
    return fromEvent(this.#newChanges, keyOf(board, playerId)) as Observable<NewChange>;
  }

  #take(record: KafkaRecord, partition: number): void {
    const { offset, timestamp } = record;
    this.#position[partition] = offset + 1;
    const change = this.#read(record, partition);
    if (change === undefined) return;

    const { board, playerId } = change;
    // Another producer may write line breaks between the tokens of JSON.
    const data = String(record.value).replace(/[\r\n]+/g, ' ');
    const event = Buffer.from(`event: rank-change\ndata: ${data}\n\n`);
    this.recent.add({ partition, offset, timestamp, board, playerId, event });

    const keys = [keyOf(board), keyOf(board, playerId)];
    if (keys.every((key) => this.#newChanges.listenerCount(key) === 0)) return;
    const eventWithId = Buffer.concat([Buffer.from(`id: ${this.id}\n`), event]);
    for (const key of keys) this.#newChanges.emit(key, change, eventWithId);
  }

  #read(record: KafkaRecord, partition: number): RankChange | undefined {
    try {
      return decodeRankChange(record);
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      const { topic, logger } = this.options;
      logger.warn(`${topic}/${partition} offset ${record.offset} is skipped: ${error.message}`);
      return undefined;
    }
  }
}

/** The names of boards and the ids of players have no control characters. */
function keyOf(board: string, playerId = ''): string {
  return `${board}\n${playerId}`;
}

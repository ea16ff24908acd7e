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

/** A rank change, and its event with the position after it as id. */
type Heard = [change: RankChange, event: Buffer];

interface FeedOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Reads all committed rank changes, and keeps the last ones. Ends when the topic gets more
 * partitions, which it would not read.
 */
export class ChangeFeed {
  readonly recent: RecentChanges;
  readonly #heard = new EventEmitter<Record<string, Heard>>().setMaxListeners(0);
  readonly #position: number[];
  /**
   * Resolves with the reason when the feed ends: the abort reason, or an error that no retry
   * repairs.
   */
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
   * Reads back up to 1 MiB of each partition, 10,000 offsets in all.
   * @throws if Kafka fails, or the abort reason
   */
  static async open(options: FeedOptions): Promise<ChangeFeed> {
    const { kafka, topic } = options;
    const ranges = [...(await logRanges(kafka, topic)).values()];
    const readBack = Math.floor(MOST_CHANGES / ranges.length);
    const past = await Promise.all(
      ranges.map((_, partition) => lastRecords(kafka, topic, partition, readBack)),
    );
    const begin = ranges.map(({ end }, partition) => past[partition]?.[0]?.offset ?? end);
    const next = begin.map(
      (start, partition) => (past[partition]?.at(-1)?.offset ?? start - 1) + 1,
    );
    const follower = await TopicFollower.open({ ...options, from: new Map(next.entries()) });
    const feed = new ChangeFeed(options, follower, begin);
    for (const [partition, records] of past.entries())
      for (const record of records) feed.#take(record, partition);
    return feed;
  }

  get isEnded(): boolean {
    return this.options.signal.aborted;
  }

  /** The position that the feed has reached, as the id of an event. */
  get id(): string {
    return positionText(this.#position);
  }

  /**
   * The position of an id, once this process has reached it: another one may be ahead. undefined if
   * it is not of this topic.
   * @throws the reason if the feed ends before
   */
  async positionOf(id: string): Promise<LogPosition | undefined> {
    const position = parsePosition(id, this.#position.length);
    if (position?.some((offset, partition) => offset > (this.#position[partition] ?? 0))) {
      const ranges = await logRanges(this.options.kafka, this.options.topic);
      if (position.some((offset, partition) => offset > (ranges.get(partition)?.end ?? 0)))
        return undefined;
      const ended = this.ended.then((reason) => Promise.reject(reason));
      await Promise.race([this.follower.reach(new Map(position.entries())), ended]);
    }
    return position;
  }

  /** The rank changes of a board, or of one player of it, from now on. */
  of(board: string, playerId?: string): Observable<Heard> {
    return fromEvent(this.#heard, keyOf(board, playerId)) as Observable<Heard>;
  }

  #take(record: KafkaRecord, partition: number): void {
    const { offset, timestamp } = record;
    this.#position[partition] = offset + 1;
    const change = this.#read(record, partition);
    if (change === undefined) return;
    const { board, playerId } = change;
    // Line breaks are between the tokens of JSON, where other producers may have them.
    const data = String(record.value).replace(/[\r\n]+/g, ' ');
    const event = Buffer.from(`event: rank-change\ndata: ${data}\n\n`);
    this.recent.add({ partition, offset, timestamp, board, playerId, event });
    const keys = [keyOf(board), keyOf(board, playerId)];
    if (keys.every((key) => this.#heard.listenerCount(key) === 0)) return;
    const identified = Buffer.concat([Buffer.from(`id: ${this.id}\n`), event]);
    for (const key of keys) this.#heard.emit(key, change, identified);
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

/** Ids have no control characters. */
function keyOf(board: string, playerId = ''): string {
  return `${board}\n${playerId}`;
}

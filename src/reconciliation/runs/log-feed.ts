import { setImmediate as nextTurn } from 'node:timers/promises';
import { firstValueFrom, merge, Subject, timer } from 'rxjs';
import { isVoided, resolveRecord } from '#board';
import { banText } from '#board-store';
import {
  decodeRecord,
  isRepeat,
  type DecodedPlayerRecord,
  type DecodedScoreEvent,
} from '#contracts';
import { LogReader, type KafkaRecord, type LogBatch, type LogReaderOptions } from '#kafka-batch';
import type { Throttle } from '../../infra/throttle.js';
import type { ShadowQueue } from './shadow-queue.js';

/** Records decoded per turn of the event loop. Replies of Redis wait for the end of the turn. */
const RECORDS_PER_TURN = 250;

/**
 * How many bytes one round of fetches asks for: BYTES_PER_ROUND from all partitions together, but
 * at least LEAST_BYTES_PER_PARTITION from each. This bounds memory. It also keeps decoded records
 * short-lived: if they waited long, their garbage collection would cost more than all other work.
 */
const BYTES_PER_ROUND = 262_144;
const LEAST_BYTES_PER_PARTITION = 65_536;

/**
 * About how many events wait in all queues together. Each partition of each queue has an equal
 * share, between LEAST_PER_SHARE and MOST_PER_SHARE, so that no partition waits for the others.
 */
const MOST_WAITING = 8_000;
const MOST_PER_SHARE = 2_000;
const LEAST_PER_SHARE = 250;

/** How often a feed without room checks again. */
const CHECK_EVERY_MS = 200;

type Rounds = Pick<LogReader, 'fetch' | 'close'>;
type OpenReader = (options: LogReaderOptions) => Promise<Rounds>;
type Log = Required<Pick<LogReaderOptions, 'kafka' | 'topic' | 'signal' | 'logger'>>;

export interface LogFeedOptions extends Log {
  readonly throttle: Throttle;
}

/**
 * Reads the log once for all shadows of a reconciliation: decodes each record once, and resolves it
 * for the shadows of its board. Reads all partitions at once, and fetches the next round while it
 * decodes the last one. Skips partitions for which a queue has no room.
 * States: created, then running (`run`) until all queues are removed or the signal is aborted.
 */
export class LogFeed {
  readonly #queues = new Set<ShadowQueue>();
  readonly #partitions = new Set<number>();
  readonly #news = new Subject<void>();
  readonly #room = new Subject<void>();
  /** Whether a partition was added that the open reader does not read. */
  #isOutdated = false;

  constructor(
    private readonly options: LogFeedOptions,
    private readonly openReader: OpenReader = (log) => LogReader.open(log),
  ) {}

  add(queue: ShadowQueue): void {
    this.#queues.add(queue);
  }

  remove(queue: ShadowQueue): void {
    this.#queues.delete(queue);
    this.#room.next();
  }

  /** Adds partitions to read. */
  cover(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      if (this.#partitions.has(partition)) continue;
      this.#partitions.add(partition);
      this.#isOutdated = true;
      this.#room.next();
    }
  }

  /** Resolves when more was read, or after `ms`. */
  async news(ms: number): Promise<void> {
    await firstValueFrom(merge(this.#news, timer(ms)));
  }

  /** Notes that a queue may have room again. */
  roomMade(): void {
    this.#room.next();
  }

  /**
   * Reads until all queues are removed.
   * @throws LogGapError if the log lacks needed records, the abort reason, or a permanent error
   */
  async run(): Promise<void> {
    while (this.#queues.size > 0) {
      this.#isOutdated = false;
      const reader = await this.#open();
      try {
        await this.#read(reader);
      } finally {
        await reader.close();
      }
    }
  }

  #open(): Promise<Rounds> {
    const from = new Map<number, number>();
    for (const partition of this.#partitions) {
      const position = this.#position(partition);
      if (Number.isFinite(position)) from.set(partition, position);
    }
    const share = Math.floor(BYTES_PER_ROUND / Math.max(1, from.size));
    const maxBytesPerPartition = Math.max(LEAST_BYTES_PER_PARTITION, share);

    const { kafka, topic, signal, logger } = this.options;
    const log = { kafka, topic, signal, logger, endsAtUnreadable: true };
    return this.openReader({ ...log, from, maxBytesPerPartition });
  }

  async #read(reader: Rounds): Promise<void> {
    let round: Promise<LogBatch[]> | undefined;
    while (this.#queues.size > 0 && !this.#isOutdated) {
      round ??= this.#beginRound(reader);
      if (round === undefined) {
        await firstValueFrom(merge(this.#room, timer(CHECK_EVERY_MS)));
        this.options.signal.throwIfAborted();
        continue;
      }

      const batches = await round;
      round = this.#beginRound(reader);
      for (const batch of batches) await this.#deliver(batch);
      this.#news.next();
    }
    await round?.catch(() => undefined); // the next reader reads this round again
  }

  /**
   * Begins to fetch all needed partitions for which the queues have room. Returns undefined if
   * there are none, or while a full queue has entries to apply: a fetch of other partitions might
   * wait for new records so long that this queue runs empty.
   */
  #beginRound(reader: Rounds): Promise<LogBatch[]> | undefined {
    if ([...this.#queues].some((queue) => this.#isDraining(queue))) return undefined;
    const wanted = [...this.#partitions].filter((partition) => this.#isWanted(partition));
    if (wanted.length === 0) return undefined;

    const round = reader.fetch(new Set(wanted));
    round.catch(() => undefined); // reported where it is awaited
    return round;
  }

  /** Whether a queue is full for a partition, and has entries of it that can be applied now. */
  #isDraining(queue: ShadowQueue): boolean {
    return [...this.#partitions].some(
      (partition) => !this.#hasRoom(queue, partition) && queue.canApply(partition),
    );
  }

  #isWanted(partition: number): boolean {
    const queues = this.#needing(partition);
    return queues.length > 0 && queues.every((queue) => this.#hasRoom(queue, partition));
  }

  #hasRoom(queue: ShadowQueue, partition: number): boolean {
    const share = MOST_WAITING / (this.#queues.size * this.#partitions.size);
    return queue.waiting(partition) < Math.min(MOST_PER_SHARE, Math.max(LEAST_PER_SHARE, share));
  }

  /** The first offset that any queue needs; Infinity if no queue needs the partition. */
  #position(partition: number): number {
    return Math.min(...this.#needing(partition).map((queue) => queue.position(partition)));
  }

  #needing(partition: number): ShadowQueue[] {
    return [...this.#queues].filter((queue) => queue.needs(partition));
  }

  async #deliver({ partition, records, nextOffset }: LogBatch): Promise<void> {
    const { throttle, signal } = this.options;
    for (let first = 0; first < records.length; first += RECORDS_PER_TURN) {
      const ofTurn = records.slice(first, first + RECORDS_PER_TURN);
      await throttle.next(ofTurn.length, signal);
      for (const record of ofTurn) this.#deliverRecord(partition, record);
      this.#advance(partition, (ofTurn.at(-1)?.offset ?? -1) + 1);

      const isLastTurn = first + RECORDS_PER_TURN >= records.length;
      if (isLastTurn) break;
      this.#news.next();
      await nextTurn();
    }
    this.#advance(partition, nextOffset);
  }

  /**
   * Adds a record to the queues of its board. Skips dead letters (malformed, or refused by a
   * shadow's definition), and retries of records that the shadow applies anyway.
   */
  #deliverRecord(partition: number, record: KafkaRecord): void {
    const decoded = decodeRecord(record);
    if (!decoded.ok) return;
    if ('playerRecord' in decoded)
      this.#deliverPlayerRecord(decoded.playerRecord, partition, record);
    else this.#deliverEvent(decoded.event, partition, record);
  }

  #deliverEvent(event: DecodedScoreEvent, partition: number, record: KafkaRecord): void {
    const { offset } = record;
    for (const queue of this.#queues) {
      const { board, definition } = queue.shadow;
      if (board !== event.board || offset < queue.position(partition)) continue;
      if (isRepeat(event, queue.shadow)) continue;

      const resolved = resolveRecord(definition, event, partition, record);
      if (!resolved.ok) continue;
      queue.add(partition, { kind: 'event', offset, board, event: resolved.event });
    }
  }

  /** Adds a player record to the queues of its board, unless the shadow's definition voids it. */
  #deliverPlayerRecord(
    playerRecord: DecodedPlayerRecord,
    partition: number,
    record: KafkaRecord,
  ): void {
    const { offset } = record;
    const { board, playerId } = playerRecord;
    const entry = banText(playerRecord, { partition, offset });
    for (const queue of this.#queues) {
      const { shadow } = queue;
      if (board !== shadow.board || offset < queue.position(partition)) continue;
      if (isVoided(shadow.definition, playerRecord, partition, record)) continue;
      queue.add(partition, { kind: 'player', offset, board, playerId, entry });
    }
  }

  #advance(partition: number, nextOffset: number): void {
    for (const queue of this.#queues) queue.advance(partition, nextOffset);
  }
}

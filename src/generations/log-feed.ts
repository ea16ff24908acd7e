import { setImmediate as nextTurn } from 'node:timers/promises';
import { resolveEvent } from '#board';
import { decodeScoreEvent, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord, LogBatch, LogReader } from '#kafka-batch';
import type { Throttle } from '../infra/throttle.js';
import type { ShadowQueue } from './shadow-queue.js';

/** Records that are decoded in one go: answers of Redis are not kept waiting for longer. */
const MOST_IN_ONE_GO = 250;

/**
 * What a round asks for of all partitions together, which bounds memory, and keeps it young: what is decoded long before it is
 * needed costs the collector of garbage more than all else. Of one, it asks for this much at least.
 */
const BYTES_OF_A_ROUND = 524_288;
const LEAST_BYTES_OF_A_PARTITION = 65_536;

/**
 * Events that wait in all queues together before no more is read. A partition has an equal share of it in each queue, so that none
 * waits for the others, and at most and at least so many.
 */
const MOST_WAITING = 8_000;
const MOST_OF_A_SHARE = 2_000;
const LEAST_OF_A_SHARE = 250;

/** How long a look for room takes while nobody makes any. */
const LOOK_AGAIN_MS = 200;

/** Where a reader begins, by partition, and what a round asks for of each. */
export interface ReadFrom {
  readonly from: ReadonlyMap<number, number>;
  readonly maxBytesPerPartition: number;
}

type Rounds = Pick<LogReader, 'fetch' | 'close'>;

export interface LogFeedOptions {
  readonly open: (where: ReadFrom) => Promise<Rounds>;
  readonly throttle: Throttle;
  /** Aborted, the feed ends. */
  readonly signal: AbortSignal;
}

/**
 * Reads the log once for all shadows: decodes each record once, and resolves it for each shadow that it is about. All
 * partitions side by side, the next round under way while the last one is decoded. Of a partition of which much waits in
 * a queue, nothing is read.
 *
 * States: made; running (`run`), until all queues are removed or the signal is aborted.
 */
export class LogFeed {
  readonly #queues = new Set<ShadowQueue>();
  readonly #news = new Bell();
  readonly #room = new Bell();
  /** Partitions that are to be read. */
  readonly #partitions = new Set<number>();
  /** The reader lacks a partition. */
  #isOutdated = false;

  constructor(private readonly options: LogFeedOptions) {}

  add(queue: ShadowQueue): void {
    this.#queues.add(queue);
  }

  /** Nothing more is read for it. */
  remove(queue: ShadowQueue): void {
    this.#queues.delete(queue);
    this.#room.ring();
  }

  /** Reads these partitions, too. */
  cover(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      if (this.#partitions.has(partition)) continue;
      this.#partitions.add(partition);
      this.#isOutdated = true;
      this.#room.ring();
    }
  }

  /** Resolves when more was read, at the latest after so many ms. */
  async news(ms: number): Promise<void> {
    await this.#news.next(ms);
  }

  /** A queue may take more. */
  roomMade(): void {
    this.#room.ring();
  }

  /** @throws LogGapError when the log does not hold what is needed, the reason of the signal, or what no retry repairs */
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
    const from = new Map(
      [...this.#partitions]
        .map((partition) => [partition, this.#position(partition)] as const)
        .filter(([, position]) => Number.isFinite(position)),
    );
    const bytes = Math.floor(BYTES_OF_A_ROUND / Math.max(1, from.size));
    const maxBytesPerPartition = Math.max(LEAST_BYTES_OF_A_PARTITION, bytes);
    return this.options.open({ from, maxBytesPerPartition });
  }

  async #read(reader: Rounds): Promise<void> {
    let round: Promise<LogBatch[]> | undefined;
    while (this.#queues.size > 0 && !this.#isOutdated) {
      round ??= this.#begin(reader);
      if (round === undefined) {
        await this.#room.next(LOOK_AGAIN_MS);
        this.options.signal.throwIfAborted();
        continue;
      }
      const batches = await round;
      round = this.#begin(reader);
      for (const batch of batches) await this.#deliver(batch);
      this.#news.ring();
    }
    await round?.catch(() => undefined); // what it brings is read again by the next reader, if it is needed
  }

  /**
   * The next round, of all that is needed and has room; undefined when nothing has, or when a full queue empties by itself:
   * a round of the others would wait for news of theirs, and that one run dry meanwhile.
   */
  #begin(reader: Rounds): Promise<LogBatch[]> | undefined {
    const partitions = [...this.#partitions];
    const isEmptying = (queue: ShadowQueue, partition: number) =>
      !this.#hasRoom(queue, partition) && queue.isEmptying(partition);
    const queues = [...this.#queues];
    if (queues.some((queue) => partitions.some((partition) => isEmptying(queue, partition))))
      return;
    if (!partitions.some((partition) => this.#isWanted(partition))) return;
    const round = reader.fetch((partition) => this.#isWanted(partition));
    round.catch(() => undefined); // whoever awaits it is told; it may fail before
    return round;
  }

  #isWanted(partition: number): boolean {
    const queues = [...this.#queues].filter((queue) => queue.wants(partition));
    return queues.length > 0 && queues.every((queue) => this.#hasRoom(queue, partition));
  }

  #hasRoom(queue: ShadowQueue, partition: number): boolean {
    const share = MOST_WAITING / (this.#queues.size * this.#partitions.size);
    const most = Math.min(MOST_OF_A_SHARE, Math.max(LEAST_OF_A_SHARE, share));
    return queue.waiting(partition) < most;
  }

  /** The first offset that some queue needs. */
  #position(partition: number): number {
    const queues = [...this.#queues].filter((queue) => queue.wants(partition));
    return Math.min(...queues.map((queue) => queue.position(partition)));
  }

  async #deliver({ partition, records, nextOffset }: LogBatch): Promise<void> {
    const { throttle, signal } = this.options;
    for (let first = 0; first < records.length; first += MOST_IN_ONE_GO) {
      const some = records.slice(first, first + MOST_IN_ONE_GO);
      await throttle.next(some.length, signal);
      for (const record of some) this.#deliverRecord(partition, record);
      const last = some.at(-1);
      if (last !== undefined) this.#advance(partition, last.offset + 1);
      if (some.length < MOST_IN_ONE_GO) break;
      this.#news.ring();
      await nextTurn();
    }
    this.#advance(partition, nextOffset);
  }

  #deliverRecord(partition: number, record: KafkaRecord): void {
    const decoded = decodeScoreEvent(record);
    if (!decoded.ok) return; // a dead letter, on every board
    for (const queue of this.#queues)
      if (queue.shadow.board === decoded.event.board)
        deliverEvent(queue, { partition, record, event: decoded.event });
  }

  #advance(partition: number, nextOffset: number): void {
    for (const queue of this.#queues) queue.advance(partition, nextOffset);
  }
}

interface DecodedRecord {
  readonly partition: number;
  readonly record: KafkaRecord;
  readonly event: DecodedScoreEvent;
}

/** What the definition of the shadow refuses is no part of it. */
function deliverEvent(queue: ShadowQueue, { partition, record, event }: DecodedRecord): void {
  const { offset, timestamp } = record;
  if (offset < queue.position(partition)) return;
  const { board, definition, starts } = queue.shadow;
  if (offset < (starts?.get(partition) ?? 0)) return; // of a generation that is brought back from before its start
  const resolved = resolveEvent(definition, event, timestamp);
  if (resolved.ok) queue.add(partition, { kind: 'event', offset, board, event: resolved.event });
}

/** Wakes all its waiters. */
class Bell {
  #waiting: (() => void)[] = [];

  ring(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves at the next ring, or after `ms`. */
  async next(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

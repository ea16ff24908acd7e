import type { Admin, Kafka } from 'kafkajs';
import { decodeDeadLetter, formatTime, isId } from '#contracts';
import { logRanges, readRanges, type KafkaRecord, type LogBatch } from '#kafka-batch';

/** How many of the last offsets of each partition are read. */
const MOST_OFFSETS = 1_000;
/** Records may name any number of unknown boards. */
const MOST_REASONS = 100;

interface Reason {
  readonly code: string;
  /** The one that the records name; null if they name none. */
  readonly board: string | null;
}

interface Letter extends Reason {
  readonly partition: number;
  readonly offset: number;
  /** When it was published, in ms. */
  readonly timestamp: number;
}

/** The dead letters in the last 1,000 offsets of each partition, by reason. Each read brings only those that are new. */
export class RecentDeadLetters {
  #letters: Letter[] = [];
  /** By partition, the offset where the next read begins. */
  readonly #next = new Map<number, number>();

  constructor(
    private readonly clients: { readonly kafka: Kafka; readonly admin: Admin },
    private readonly topic: string,
  ) {}

  /**
   * `atMost` is a bound of the number in the topic, as offsets before the counted ones may be transaction markers. Has at most 100
   * reasons, the most frequent ones first. One call at a time. @throws errors of Kafka, also if reading takes more than 10 s
   */
  async counts() {
    const { kafka, admin } = this.clients;
    const ranges = [...(await logRanges(admin, this.topic))];
    const begins = new Map(
      ranges.map(([partition, { start, end }]) => [partition, Math.max(start, end - MOST_OFFSETS)]),
    );
    const beginOf = (partition: number) => begins.get(partition) ?? 0;
    const unread = ranges.map(([partition, { end }]) => {
      const start = Math.max(beginOf(partition), this.#next.get(partition) ?? 0);
      return [partition, { start, end }] as const;
    });
    for await (const batch of readRanges(kafka, this.topic, new Map(unread))) {
      this.#letters.push(...lettersOf(batch));
      this.#next.set(batch.partition, batch.nextOffset);
    }
    this.#letters = this.#letters.filter(({ partition, offset }) => offset >= beginOf(partition));
    const earlier = ranges.map(([partition, { start }]) => beginOf(partition) - start);
    const atMost = earlier.reduce((sum, offsets) => sum + offsets, this.#letters.length);
    return { atMost, ...countsOf(this.#letters) };
  }
}

function lettersOf({ partition, records }: LogBatch): Letter[] {
  return records.flatMap((record) => {
    const letter = decodeDeadLetter(record);
    const { offset, timestamp } = record;
    return letter
      ? { partition, offset, timestamp, code: letter.code, board: boardOf(record) }
      : [];
  });
}

function countsOf(letters: readonly Letter[]) {
  const reasons = new Map<string, Reason & { count: number; last: number }>();
  for (const { code, board, timestamp } of letters) {
    const key = JSON.stringify([code, board]);
    const { count, last } = reasons.get(key) ?? { count: 0, last: timestamp };
    reasons.set(key, { code, board, count: count + 1, last: Math.max(last, timestamp) });
  }
  const first = Math.min(...letters.map(({ timestamp }) => timestamp));
  return {
    counted: letters.length,
    since: letters.length === 0 ? null : formatTime(first),
    reasons: [...reasons.values()]
      .sort((one, other) => other.count - one.count)
      .slice(0, MOST_REASONS)
      .map(({ last, ...reason }) => ({ ...reason, lastAt: formatTime(last) })),
  };
}

function boardOf({ value }: KafkaRecord): string | null {
  try {
    const { board } = JSON.parse(String(value)) as { board?: unknown };
    return isId(board) ? board : null;
  } catch {
    return null; // no JSON, or null
  }
}

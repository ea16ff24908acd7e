import { isDeepStrictEqual } from 'node:util';
import kafkajs, { type Admin, type Kafka, type Message } from 'kafkajs';
import type { IdentityCheck } from '#board-store';
import {
  decodeDefinitionRecord,
  encodeDefinitionRecord,
  MalformedDefinitionRecordError,
  type DefinitionRecord,
} from '#contracts';
import { LogReader, logRanges, type LogBatch, type LogRange } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';

export type { DefinitionRecord } from '#contracts';

/** The whole topic is small: whoever waits longer for it than this, waits for a broker. */
const MOST_READ_MS = 10_000;

/**
 * Rounds in a row in which all brokers answered and none had a record, after which nothing is left: compaction may have
 * removed the last ones of a log.
 */
const QUIET_ROUNDS = 5;

type Ranges = ReadonlyMap<number, LogRange>;

/** What the topic says of the boards. */
interface Reading {
  /** Of each board, the record with the largest `since`. */
  readonly latest: Map<string, DefinitionRecord>;
  /** Boards of which an older record comes later in the same partition, so that compaction would leave that one. */
  readonly overwritten: Set<string>;
}

/** The key of the identity: no board has a name with a control character. Earlier releases leave the record out. */
export const IDENTITY_KEY = '\u0000identity';

/** The live definitions and the identity of their ranklog, in a compacted topic, which outlives Redis. */
export class DefinitionsTopic {
  /** Where the log ended when nothing in it was to be repaired. */
  #repairedTo: Ranges = new Map();
  /** Whether the last read found an identity. */
  #isClaimed = false;

  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly topic: string,
    private readonly parts: { readonly log: Logger; readonly identity: IdentityCheck },
  ) {}

  /**
   * Of each board, the record with the largest `since`; what can't be read is told and left out. Cost: reads the topic,
   * over connections of its own.
   * @throws OtherIdentityError, and what Kafka says, also when it does not answer for MOST_READ_MS
   */
  async readAll(): Promise<Map<string, DefinitionRecord>> {
    return (await this.#readFrom(await logRanges(this.admin, this.topic))).latest;
  }

  /**
   * Writes what is in force once more where an older record came after it: of a writer that was held up between its promotion
   * and its record until another one had written. Answers those boards. Safe to repeat, and for several at once. Cost: one
   * request where nothing was written since the last time.
   */
  async repair(): Promise<string[]> {
    const ranges = await logRanges(this.admin, this.topic);
    if (isDeepStrictEqual(ranges, this.#repairedTo)) return [];
    const { latest, overwritten } = await this.#readFrom(ranges);
    await this.write([...latest.values()].filter(({ board }) => overwritten.has(board)));
    await this.claim();
    if (overwritten.size === 0) this.#repairedTo = ranges;
    return [...overwritten];
  }

  /** Resolves when the records are in Kafka. Safe to repeat; of two writers at once, the larger `since` holds. */
  async write(records: readonly DefinitionRecord[]): Promise<void> {
    if (records.length > 0)
      await this.#send(records.map((record) => encodeDefinitionRecord(record, this.topic)));
  }

  /** Writes the identity if the last read found none; with `moves`, always. Safe to repeat. */
  async claim({ moves = false } = {}): Promise<void> {
    if (this.#isClaimed && !moves) return;
    await this.#send([{ key: IDENTITY_KEY, value: this.parts.identity.text }]);
    this.#isClaimed = true;
  }

  async #send(messages: Message[]): Promise<void> {
    const producer = this.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    try {
      await producer.send({ topic: this.topic, acks: -1, messages });
    } finally {
      await producer.disconnect();
    }
  }

  async #readFrom(ranges: Ranges): Promise<Reading> {
    const latest = new Map<string, DefinitionRecord>();
    const overwritten = new Set<string>();
    const partitionOf = new Map<string, number>();
    let identity = '';
    await this.#read(ranges, ({ partition, records }) => {
      for (const record of records) {
        if (record.key?.toString() === IDENTITY_KEY) {
          identity = record.value?.toString() ?? '';
          continue;
        }
        const found = this.#decode(partition, record);
        if (found === undefined) continue;
        const { board, since } = found;
        if (since >= (latest.get(board)?.since ?? 0)) {
          latest.set(board, found);
          partitionOf.set(board, partition);
          overwritten.delete(board);
        } else if (partitionOf.get(board) === partition) overwritten.add(board);
      }
    });
    this.#isClaimed = identity !== '';
    this.parts.identity.compare(identity, `topic ${this.topic}`);
    return { latest, overwritten };
  }

  #decode(partition: number, record: LogBatch['records'][number]): DefinitionRecord | undefined {
    try {
      return decodeDefinitionRecord(record);
    } catch (error) {
      if (!(error instanceof MalformedDefinitionRecordError)) throw error;
      this.parts.log.warn(
        `${this.topic}/${partition}/${record.offset} is left out, as it is ${error.message}`,
      );
      return undefined;
    }
  }

  /** All that the topic holds now. */
  async #read(ranges: Ranges, take: (batch: LogBatch) => void): Promise<void> {
    const { kafka, topic } = this;
    const filled = [...ranges].filter(([, { start, end }]) => start < end);
    if (filled.length === 0) return;
    const ends = new Map(filled.map(([partition, { end }]) => [partition, end]));
    const from = new Map(filled.map(([partition, { start }]) => [partition, start]));
    const signal = AbortSignal.timeout(MOST_READ_MS);
    const reader = await LogReader.open({ kafka, topic, from, signal });
    try {
      for (let quiet = 0; ends.size > 0 && quiet < QUIET_ROUNDS;) {
        const batches = await reader.fetch((partition) => ends.has(partition));
        quiet = batches.length > 0 ? 0 : quiet + Number(!reader.isWaiting);
        for (const batch of batches) {
          take(batch);
          if (batch.nextOffset >= (ends.get(batch.partition) ?? 0)) ends.delete(batch.partition);
        }
      }
    } finally {
      await reader.close();
    }
  }
}

import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import kafkajs, { type Message } from 'kafkajs';
import { IdentityCheck } from '#board-store';
import {
  decodeDefinitionRecord,
  decodeStoredDefinition,
  encodeDefinitionRecord,
  encodeSkippedBatch,
  IDENTITY_KEY,
  isOfBoard,
  MalformedRecordError,
  parseObject,
  type DefinitionRecord,
  type SkippedBatch,
} from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import { definitionsLog, definitionsRanges, type Ranges } from './definitions-log.js';
import { KafkaConnection } from './kafka.js';
import { Logger } from './logger.js';

/** A record with the key of a board that this version cannot read. */
export interface UnreadableDefinition {
  readonly board: string;
  /** As in DefinitionRecord; 0 if it can't be read either: then no ranklog wrote the record. */
  readonly since: number;
  /** Where the record is, and what is wrong with it. */
  readonly problem: string;
}

/** The compacted topic of live definitions and of the identity. It survives a loss of Redis. */
@Injectable()
export class DefinitionsTopic {
  readonly #topic: string;
  /** The log ranges at the last check that found nothing to repair. */
  #repairedTo: Ranges = new Map();
  /** The identity that compaction would keep, as last read or written; empty without one. */
  #claimed = '';
  #unreadable: ReadonlyMap<string, UnreadableDefinition> = new Map();

  constructor(
    private readonly connection: KafkaConnection,
    readonly identity: IdentityCheck,
    private readonly log: Logger,
  ) {
    this.#topic = connection.topics.definitions;
  }

  /** By board: its record with the largest `since`, if the last read could not read it. */
  get unreadable(): ReadonlyMap<string, UnreadableDefinition> {
    return this.#unreadable;
  }

  /**
   * The readable record with the largest `since` of each board. Logs and skips unreadable records:
   * see `unreadable`.
   * Cost: reads the topic, over new connections.
   * @throws OtherIdentityError, and errors of Kafka, also after ten seconds
   */
  async readAll(): Promise<Map<string, DefinitionRecord>> {
    const ranges = await definitionsRanges(this.connection);
    const { latest } = await this.#readFrom(ranges);
    return latest;
  }

  /**
   * The identity in the topic, in the form of `IdentityCheck.text`; empty without one.
   * Cost: as `readAll`.
   */
  async storedIdentity(): Promise<string> {
    await this.readAll();
    return this.#claimed;
  }

  /**
   * Writes the latest record of a board again if another record follows it, which compaction would
   * keep instead. That record is older, because its writer paused between a promotion and its
   * record, or it is from another program. Returns these boards. Safe to repeat, in several
   * processes.
   * Cost: that of `logRanges` if the topic has not changed.
   */
  async repair(): Promise<string[]> {
    const ranges = await definitionsRanges(this.connection);
    if (isDeepStrictEqual(ranges, this.#repairedTo)) return [];

    const { latest, overwritten } = await this.#readFrom(ranges);
    await this.write([...latest.values()].filter(({ board }) => overwritten.has(board)));
    await this.claim();
    if (overwritten.size === 0) this.#repairedTo = ranges;
    return [...overwritten];
  }

  /** Resolves when Kafka has the records. Safe to repeat: readers use the largest `since`. */
  async write(records: readonly DefinitionRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#send(records.map((record) => encodeDefinitionRecord(record, this.#topic)));
  }

  /**
   * Writes the identity if the last read found none; with `moves`, also replaces another identity.
   * Safe to repeat.
   */
  async claim({ moves = false } = {}): Promise<void> {
    if (this.#claimed !== '' && !moves) return;
    await this.#send([{ key: IDENTITY_KEY, value: this.identity.text }]);
    this.#claimed = this.identity.text;
  }

  /** Gives up a batch that can't be read, permanently. Safe to repeat. */
  async skip(batch: SkippedBatch): Promise<void> {
    await this.#send([encodeSkippedBatch(batch)]);
  }

  async #send(messages: Message[]): Promise<void> {
    const producer = this.connection.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    try {
      await producer.send({ topic: this.#topic, acks: -1, messages });
    } finally {
      await producer.disconnect();
    }
  }

  async #readFrom(ranges: Ranges): Promise<FoundRecords> {
    const found = new FoundRecords();
    let identity = '';
    let claimed = '';
    const { kafka } = this.connection;
    for await (const { partition, record } of definitionsLog(kafka, this.#topic, ranges)) {
      const key = record.key?.toString() ?? '';
      if (key === IDENTITY_KEY) {
        const last = this.#identityOf(partition, record);
        identity = last ?? identity;
        claimed = last ?? '';
        continue;
      }
      if (!isOfBoard(record)) continue;
      if (record.value === null) found.deleted(key, partition);
      else found.add(this.#decode(partition, record), partition);
    }

    this.#unreadable = found.unreadable;
    this.#claimed = claimed;
    this.identity.compare(identity, `topic ${this.#topic}`);
    return found;
  }

  #decode(partition: number, record: KafkaRecord): DefinitionRecord | UnreadableDefinition {
    try {
      return decodeDefinitionRecord(record);
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      return { ...storedOf(record), problem: this.#skip(partition, record, error.message) };
    }
  }

  /** Returns undefined if the record can't be read, '' if an operator has deleted the identity. */
  #identityOf(partition: number, record: KafkaRecord): string | undefined {
    const text = record.value?.toString() ?? '';
    if (text === '' || parseObject(text) !== undefined) return text;
    this.#skip(partition, record, 'not an identity: the value is not a JSON object');
    return undefined;
  }

  #skip(partition: number, { offset }: KafkaRecord, why: string): string {
    const problem = `${this.#topic}/${partition} offset ${offset} is ${why}`;
    this.log.warn(`${problem}; the record is skipped`);
    return problem;
  }
}

/** The records of boards that a read has found. Add the records of a partition in their order. */
class FoundRecords {
  /** By board, the readable record with the largest `since`. */
  readonly latest = new Map<string, DefinitionRecord>();
  /** By board, the unreadable record with the largest `since`, unless a readable one is newer. */
  readonly unreadable = new Map<string, UnreadableDefinition>();
  /**
   * Boards whose latest record is followed by another one: compaction would keep only the other.
   */
  readonly overwritten = new Set<string>();
  readonly #partitionOf = new Map<string, number>();

  add(record: DefinitionRecord | UnreadableDefinition, partition: number): void {
    const { board, since } = record;
    const latestSince = this.latest.get(board)?.since ?? 0;
    const unreadableSince = this.unreadable.get(board)?.since ?? 0;
    if (since < latestSince) {
      this.#overwrite(board, partition);
      return;
    }
    if ('problem' in record) {
      if (since >= unreadableSince) this.unreadable.set(board, record);
      return;
    }

    this.latest.set(board, record);
    this.#partitionOf.set(board, partition);
    this.overwritten.delete(board);
    if (since >= unreadableSince) this.unreadable.delete(board);
  }

  /** A record without a value deletes the earlier ones of its key once the topic is compacted. */
  deleted(board: string, partition: number): void {
    this.unreadable.delete(board);
    this.#overwrite(board, partition);
  }

  #overwrite(board: string, partition: number): void {
    if (this.#partitionOf.get(board) === partition) this.overwritten.add(board);
  }
}

/** The readable parts of an unreadable record. */
function storedOf(record: KafkaRecord): Omit<UnreadableDefinition, 'problem'> {
  try {
    return decodeStoredDefinition(record);
  } catch {
    return { board: record.key?.toString() ?? '', since: 0 };
  }
}

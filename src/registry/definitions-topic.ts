import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import kafkajs, { type Message } from 'kafkajs';
import { IdentityCheck } from '#board-store';
import {
  decodeDefinitionRecord,
  encodeDefinitionRecord,
  IDENTITY_KEY,
  MalformedRecordError,
  type DefinitionRecord,
} from '#contracts';
import { logRanges, readRanges, type KafkaRecord, type LogRange } from '#kafka-batch';
import { KafkaConnection } from '../infra/kafka.js';
import { Logger } from '../infra/logger.js';

const READ_TIMEOUT_MS = 10_000;
/** After this many rounds without a record, though all brokers answered, compaction must have removed the last records. */
const QUIET_ROUNDS = 5;

type Ranges = ReadonlyMap<number, LogRange>;

/** The compacted topic of the live definitions and the identity of their ranklog. It survives a loss of Redis. */
@Injectable()
export class DefinitionsTopic {
  readonly #topic: string;
  /** The log ranges at the last check that found nothing to repair. */
  #repairedTo: Ranges = new Map();
  /** Whether the last read found an identity. */
  #isClaimed = false;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly identity: IdentityCheck,
    private readonly log: Logger,
  ) {
    this.#topic = connection.topics.definitions;
  }

  /**
   * Of each board, the record with the largest `since`. Logs and skips malformed records. Cost: reads the topic, over
   * connections of its own. @throws OtherIdentityError, and errors of Kafka, also after READ_TIMEOUT_MS
   */
  async readAll(): Promise<Map<string, DefinitionRecord>> {
    return (await this.#readFrom(await logRanges(this.connection.admin, this.#topic))).latest;
  }

  /**
   * Writes the latest record of a board again if an older one came after it: a writer may pause between a promotion and its
   * record. Returns these boards. Safe to repeat, in several processes. Cost: two requests if the topic has not changed.
   */
  async repair(): Promise<string[]> {
    const ranges = await logRanges(this.connection.admin, this.#topic);
    if (isDeepStrictEqual(ranges, this.#repairedTo)) return [];
    const { latest, overwritten } = await this.#readFrom(ranges);
    await this.write([...latest.values()].filter(({ board }) => overwritten.has(board)));
    await this.claim();
    if (overwritten.size === 0) this.#repairedTo = ranges;
    return [...overwritten];
  }

  /** Resolves when the records are in Kafka. Safe to repeat; of two concurrent writers, the larger `since` wins. */
  async write(records: readonly DefinitionRecord[]): Promise<void> {
    if (records.length > 0)
      await this.#send(records.map((record) => encodeDefinitionRecord(record, this.#topic)));
  }

  /** Writes the identity if the last read found none; with `moves`, also over another identity. Safe to repeat. */
  async claim({ moves = false } = {}): Promise<void> {
    if (this.#isClaimed && !moves) return;
    await this.#send([{ key: IDENTITY_KEY, value: this.identity.text }]);
    this.#isClaimed = true;
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

  async #readFrom(ranges: Ranges) {
    /** Of each board, the record with the largest `since`. */
    const latest = new Map<string, DefinitionRecord>();
    /** Boards with an older record after their latest one in the same partition, so that compaction would keep the older one. */
    const overwritten = new Set<string>();
    const partitionOf = new Map<string, number>();
    let identity = '';
    for await (const { partition, record } of this.#records(ranges)) {
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
    this.#isClaimed = identity !== '';
    this.identity.compare(identity, `topic ${this.#topic}`);
    return { latest, overwritten };
  }

  #decode(partition: number, record: KafkaRecord): DefinitionRecord | undefined {
    try {
      return decodeDefinitionRecord(record);
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      this.log.warn(
        `${this.#topic}/${partition}/${record.offset} is left out, as it is ${error.message}`,
      );
      return undefined;
    }
  }

  async *#records(ranges: Ranges): AsyncGenerator<{ partition: number; record: KafkaRecord }> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const { kafka } = this.connection;
    let quiet = 0;
    for await (const round of readRanges(ranges, { kafka, topic: this.#topic, signal })) {
      quiet = round.length > 0 ? 0 : quiet + 1;
      if (quiet === QUIET_ROUNDS) return;
      for (const { partition, records } of round)
        for (const record of records) yield { partition, record };
    }
  }
}

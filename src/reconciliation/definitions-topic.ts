import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import {
  decodeDefinitionInForce,
  encodeDefinitionInForce,
  MalformedDefinitionInForceError,
  type DefinitionInForce,
} from '#contracts';
import { LogReader, logRanges, type LogBatch } from '#kafka-batch';

export type { DefinitionInForce } from '#contracts';

/** The words about records that can't be read go here. */
interface Log {
  warn(message: string): void;
}

/** The whole topic is small: whoever waits longer for it than this, waits for a broker. */
const MOST_READ_MS = 10_000;

/**
 * Rounds in a row in which all brokers answered and none had a record, after which nothing is left: compaction may have
 * removed the last ones of a log.
 */
const QUIET_ROUNDS = 5;

/** What is in force, kept in a compacted topic: it outlives Redis. */
export class DefinitionsTopic {
  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly topic: string,
    private readonly log: Log,
  ) {}

  /**
   * Of each board, the record with the largest `since`; what can't be read is told and left out. Cost: reads the topic,
   * over connections of its own.
   * @throws what Kafka says, also when it does not answer for MOST_READ_MS
   */
  async readAll(): Promise<Map<string, DefinitionInForce>> {
    const latest = new Map<string, DefinitionInForce>();
    await this.#read(({ partition, records }) => {
      for (const record of records) {
        const found = this.#decode(partition, record);
        const known = found && latest.get(found.board);
        if (found && found.since >= (known?.since ?? 0)) latest.set(found.board, found);
      }
    });
    return latest;
  }

  /** Resolves when the records are in Kafka. Safe to repeat; of two writers at once, the larger `since` holds. */
  async write(records: readonly DefinitionInForce[]): Promise<void> {
    if (records.length === 0) return;
    const producer = this.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    try {
      const messages = records.map((record) => encodeDefinitionInForce(record, this.topic));
      await producer.send({ topic: this.topic, acks: -1, messages });
    } finally {
      await producer.disconnect();
    }
  }

  #decode(partition: number, record: LogBatch['records'][number]): DefinitionInForce | undefined {
    try {
      return decodeDefinitionInForce(record);
    } catch (error) {
      if (!(error instanceof MalformedDefinitionInForceError)) throw error;
      this.log.warn(
        `${this.topic}/${partition}/${record.offset} is left out, as it is ${error.message}`,
      );
      return undefined;
    }
  }

  /** All that the topic holds now. */
  async #read(take: (batch: LogBatch) => void): Promise<void> {
    const { kafka, topic } = this;
    const ranges = [...(await logRanges(this.admin, topic))].filter(
      ([, { start, end }]) => start < end,
    );
    if (ranges.length === 0) return;
    const ends = new Map(ranges.map(([partition, { end }]) => [partition, end]));
    const from = new Map(ranges.map(([partition, { start }]) => [partition, start]));
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

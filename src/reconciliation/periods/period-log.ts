import {
  decodePeriodRecord,
  deletedPeriodRecord,
  encodePeriodRecord,
  encodePeriodResult,
  MalformedRecordError,
  periodName,
  periodOfRecord,
  type PeriodRecord,
  type PeriodResult,
} from '#contracts';
import {
  BatchEncoder,
  partitionCount,
  partitionOf,
  TransactionalPublisher,
  type KafkaRecord,
  type OutgoingRecord,
} from '#kafka-batch';
import { definitionsLog, definitionsRanges } from '../../infra/definitions-log.js';
import type { KafkaConnection } from '../../infra/kafka.js';
import { announcerId } from '../../infra/topics.js';
import type { KnownRecord, PeriodRecords } from './periods.js';

type Clients = Pick<KafkaConnection, 'kafka' | 'topics'>;
type PartitionBatches = Parameters<TransactionalPublisher['publish']>[0]['records'][number];

/** All records of windows are in this partition, so that the log orders them. */
const PARTITION = 0;

/**
 * Reads the records of windows, by periodName.
 * Cost: reads a partition of the definitions topic.
 */
export async function readPeriodRecords(clients: Clients): Promise<Map<string, KnownRecord>> {
  const { kafka, topics } = clients;
  const found = new Map<string, KnownRecord>();
  const ranges = [...(await definitionsRanges(clients))].filter(([id]) => id === PARTITION);
  for await (const { record } of definitionsLog(kafka, topics.definitions, new Map(ranges))) {
    const name = periodOfRecord(record);
    if (name === undefined) continue;
    if (record.value === null) found.delete(name);
    else found.set(name, decoded(name, record, topics.definitions));
  }
  return found;
}

function decoded(name: string, record: KafkaRecord, topic: string): KnownRecord {
  try {
    return decodePeriodRecord(record);
  } catch (error) {
    if (!(error instanceof MalformedRecordError)) throw error;

    const space = name.lastIndexOf(' '); // a periodName is the board and the window
    return {
      board: name.slice(0, space),
      window: name.slice(space + 1),
      revision: 0,
      view: null,
      ends: new Map(),
      notedAt: 0,
      problem:
        `${topic}/${PARTITION} offset ${record.offset} can't be read, so it is unknown whether ` +
        `the window was announced: ${error.message}`,
    };
  }
}

/**
 * Writes announcements, each in a transaction with the record of its window. Opening a log fences
 * every earlier writer and completes its transaction, so `records` has everything that was written
 * before. If a later writer opens the log, the writes of this one fail. After a failure, open
 * another log, because the outcome may be unknown.
 */
export class PeriodLog implements AsyncDisposable {
  private constructor(
    private readonly clients: Clients,
    private readonly publisher: TransactionalPublisher,
    private readonly known: Map<string, KnownRecord>,
  ) {}

  /** The records, as read when the log was opened, and as written since. */
  get records(): PeriodRecords {
    return this.known;
  }

  static async open(clients: Clients, group: string): Promise<PeriodLog> {
    const publisher = await TransactionalPublisher.open(clients.kafka, announcerId(group));
    try {
      return new PeriodLog(clients, publisher, await readPeriodRecords(clients));
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }

  /**
   * Writes records and announcements in one transaction.
   * @throws what TransactionalPublisher.publish throws
   */
  async write(
    records: readonly PeriodRecord[],
    results: readonly PeriodResult[] = [],
  ): Promise<void> {
    const { scoreEvents } = this.clients.topics;
    const encoded = results.map((result) => encodePeriodResult(result, scoreEvents));
    const announcements = await this.#announcements(encoded);
    await this.#publish([...announcements, ...this.#records(records.map(encodePeriodRecord))]);
    for (const record of records) this.known.set(periodName(record), record);
  }

  async delete(records: readonly PeriodRecord[]): Promise<void> {
    await this.#publish(this.#records(records.map(deletedPeriodRecord)));
    for (const record of records) this.known.delete(periodName(record));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher.close();
  }

  async #publish(records: readonly PartitionBatches[]): Promise<void> {
    if (records.length > 0) await this.publisher.publish({ records });
  }

  #records(records: readonly OutgoingRecord[]): PartitionBatches[] {
    if (records.length === 0) return [];

    const encoder = new BatchEncoder();
    for (const record of records) encoder.add(record);
    const topic = this.clients.topics.definitions;
    return [{ topic, partition: PARTITION, batches: encoder.close() }];
  }

  /** Batches by the partition that Kafka's default partitioner chooses. */
  async #announcements(
    records: readonly (OutgoingRecord & { readonly key: string })[],
  ): Promise<PartitionBatches[]> {
    if (records.length === 0) return [];

    const topic = this.clients.topics.periodResults;
    const count = await partitionCount(this.clients.kafka, topic);
    const encoders = new Map<number, BatchEncoder>();
    for (const record of records) {
      const partition = partitionOf(record.key, count);
      const encoder = encoders.get(partition) ?? new BatchEncoder();
      encoder.add(record);
      encoders.set(partition, encoder);
    }

    return [...encoders].map(([partition, encoder]) => {
      return { topic, partition, batches: encoder.close() };
    });
  }
}

import {
  decodePeriodRecord,
  deletedPeriodRecord,
  encodePeriodRecord,
  encodePeriodResult,
  MalformedRecordError,
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

type Clients = Pick<KafkaConnection, 'kafka' | 'topics'>;

/** By board, then by the text of the instance. */
export type PeriodRecords = ReadonlyMap<string, ReadonlyMap<string, PeriodRecord>>;
type Records = Map<string, Map<string, PeriodRecord>>;

/**
 * Reads what is done of closed windows. Cost: reads the definitions topic.
 * @throws MalformedRecordError: who can't read a record must not announce its window again
 */
export async function readPeriodRecords(clients: Clients): Promise<Records> {
  const { kafka, topics } = clients;
  const found = new Map<string, PeriodRecord>();
  const ranges = await definitionsRanges(clients);
  for await (const { partition, record } of definitionsLog(kafka, topics.definitions, ranges)) {
    const name = periodOfRecord(record);
    if (name === undefined) continue;
    if (record.value === null) found.delete(name);
    else found.set(name, decoded(record, `${topics.definitions}/${partition}`));
  }
  return byBoard(found.values());
}

function decoded(record: KafkaRecord, place: string): PeriodRecord {
  try {
    return decodePeriodRecord(record);
  } catch (error) {
    if (!(error instanceof MalformedRecordError)) throw error;
    throw new MalformedRecordError(error.expected, `${place} offset ${record.offset}: ${error.problems}`); // prettier-ignore
  }
}

function byBoard(records: Iterable<PeriodRecord>): Records {
  const boards: Records = new Map();
  for (const record of records) setRecord(boards, record);
  return boards;
}

function setRecord(boards: Records, record: PeriodRecord): void {
  const ofBoard = boards.get(record.board) ?? new Map<string, PeriodRecord>();
  boards.set(record.board, ofBoard.set(record.window, record));
}

/**
 * Writes announcements, each transaction with the record of what is done. Opening it fences every
 * earlier writer and completes its transaction, so `records` are final then: whatever this writer
 * writes follows them, or fails. After a failure, open another one: the outcome may be unknown.
 */
export class PeriodLog implements AsyncDisposable {
  private constructor(
    private readonly clients: Clients,
    private readonly publisher: TransactionalPublisher,
    private readonly known: Records,
  ) {}

  /** As read when the log was opened, with what was written since. */
  get records(): PeriodRecords {
    return this.known;
  }

  static async open(clients: Clients, group: string): Promise<PeriodLog> {
    const publisher = await TransactionalPublisher.open(clients.kafka, `${group}-periods`);
    try {
      return new PeriodLog(clients, publisher, await readPeriodRecords(clients));
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }

  /** @throws what TransactionalPublisher.publish throws */
  async write(record: PeriodRecord, results: readonly PeriodResult[] = []): Promise<void> {
    const { scoreEvents, periodResults, definitions } = this.clients.topics;
    const announcements = results.map((result) => encodePeriodResult(result, scoreEvents));
    await this.#publish([
      ...(await this.#parts(periodResults, announcements)),
      ...(await this.#parts(definitions, [encodePeriodRecord(record)])),
    ]);
    setRecord(this.known, record);
  }

  /** Deletes records. */
  async delete(records: readonly PeriodRecord[]): Promise<void> {
    const { definitions } = this.clients.topics;
    await this.#publish(await this.#parts(definitions, records.map(deletedPeriodRecord)));
    for (const { board, window } of records) this.known.get(board)?.delete(window);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher.close();
  }

  async #publish(records: Parameters<TransactionalPublisher['publish']>[0]['records']) {
    if (records.length > 0) await this.publisher.publish({ records });
  }

  /** Batches by the partition that Kafka's default partitioner chooses. */
  async #parts(topic: string, records: readonly (OutgoingRecord & { readonly key: string })[]) {
    if (records.length === 0) return [];
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

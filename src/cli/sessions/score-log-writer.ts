import { batchBytes } from '#contracts';
import {
  BatchEncoder,
  ProducerFencedError,
  TransactionalPublisher,
  type OutgoingRecord,
} from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { whenClosed, type KafkaSession } from './kafka-session.js';

/** The size at which a transaction ends. */
const TRANSACTION_BYTES = 1_048_576;

/**
 * Writes records to the score topic in transactions. Opening it fences every earlier writer with
 * the same purpose, and completes the transaction of that writer. So no earlier writer can add
 * records any more, even if its process was only paused.
 */
export class ScoreLogWriter implements AsyncDisposable {
  /** By partition, the records of the next transaction. */
  readonly #waiting = new Map<number, BatchEncoder>();
  #bytes = 0;

  private constructor(
    private readonly publisher: TransactionalPublisher,
    private readonly to: { readonly topic: string; readonly maxBytes: number },
    private readonly logger: Logger,
  ) {}

  /** `group` is the group of ingest. `maxBytes` is the largest batch that the topic accepts. */
  static async open(
    { kafka, topics, logger }: Pick<KafkaSession, 'kafka' | 'topics' | 'logger'>,
    { group, purpose, maxBytes }: { group: string; purpose: string; maxBytes: number },
  ): Promise<ScoreLogWriter> {
    const publisher = await TransactionalPublisher.open(kafka, `${group}-${purpose}`);
    return new ScoreLogWriter(publisher, { topic: topics.scoreEvents, maxBytes }, logger);
  }

  /**
   * Adds a record. Sends all waiting records once they fill a transaction.
   * @throws CommandError if another writer took over
   */
  async add(partition: number, record: Required<OutgoingRecord>): Promise<void> {
    const batches = this.#waiting.get(partition) ?? new BatchEncoder(this.to.maxBytes);
    this.#waiting.set(partition, batches);
    batches.add(record);
    this.#bytes += batchBytes(record);
    if (this.#bytes >= TRANSACTION_BYTES) await this.flush();
  }

  /**
   * Sends the waiting records.
   * @throws CommandError if another writer took over: the log has no record of this transaction
   */
  async flush(): Promise<void> {
    const { topic } = this.to;
    const records = [...this.#waiting].map(([partition, batches]) => {
      return { topic, partition, batches: batches.close() };
    });
    this.#waiting.clear();
    this.#bytes = 0;
    if (records.length === 0) return;
    try {
      await this.publisher.publish({ records });
    } catch (error) {
      if (!(error instanceof ProducerFencedError)) throw error;
      throw new CommandError(
        'the same command was started elsewhere and took over, or this process was suspended ' +
          'too long; this process has sent nothing since. Run the command again: it sends what ' +
          'the log lacks',
        EXIT.unreachable,
      );
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return whenClosed(this.publisher.close(), this.logger);
  }
}

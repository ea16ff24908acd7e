import type { Kafka, Message } from 'kafkajs';
import type { Source } from '#contracts';
import { BatchEncoder, TransactionalPublisher } from '#kafka-batch';
import { TransactionFailedError } from './client-errors.js';
import { byPartition } from './send-chunks.js';

/** Sends the messages of each call in one Kafka transaction. Calls wait for each other. */
export class ScoreTransactions {
  /** Undefined before the first transaction, and after a failed one, which breaks the publisher. */
  #publisher: TransactionalPublisher | undefined;
  /** The last call. It never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kafka: Kafka,
    private readonly topic: string,
    private readonly transactionalId: string,
  ) {}

  /**
   * @returns where Kafka put each message
   * @throws TransactionFailedError
   */
  send(messages: readonly Message[]): Promise<ReadonlyMap<Message, Source>> {
    if (messages.length === 0) return Promise.resolve(new Map());
    const sent = this.#last.then(() => this.#sendOrClose(messages));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  /** Waits for the transactions that were begun before. A later one connects again. */
  async close(): Promise<void> {
    const closed = this.#last.then(() => this.#closePublisher());
    this.#last = closed;
    await closed;
  }

  async #sendOrClose(messages: readonly Message[]): Promise<ReadonlyMap<Message, Source>> {
    try {
      this.#publisher ??= await TransactionalPublisher.open(this.kafka, this.transactionalId);
      return await this.#send(messages, this.#publisher);
    } catch (error) {
      await this.#closePublisher();
      throw new TransactionFailedError(this.topic, error);
    }
  }

  async #send(messages: readonly Message[], publisher: TransactionalPublisher) {
    const { topic } = this;
    const parts = [...byPartition(messages, await publisher.partitionCount(topic))];
    const records = parts.map(([partition, placed]) => {
      const encoder = new BatchEncoder();
      for (const message of placed) encoder.add(message);
      return { topic, partition, batches: encoder.close() };
    });
    const offsets = await publisher.publish({ records });

    const places = new Map<Message, Source>();
    for (const [part, [partition, placed]] of parts.entries()) {
      for (const [index, message] of placed.entries()) {
        const offset = offsets[part]?.[index] ?? NaN;
        places.set(message, { topic, partition, offset });
      }
    }
    return places;
  }

  async #closePublisher(): Promise<void> {
    const publisher = this.#publisher;
    this.#publisher = undefined;
    await publisher?.close().catch(() => undefined); // the connection may be lost already
  }
}

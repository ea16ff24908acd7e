import { randomUUID } from 'node:crypto';
import { Partitioners } from 'kafkajs';
import type { Kafka, Message, PartitionMetadata, Producer } from 'kafkajs';
import {
  cloudEventHeaders,
  decodeText,
  SCORE_EVENT_TYPE,
  topicNames,
  type ScoreEvent,
} from '#contracts';
import { patchKafkajs, sendChunks } from '#kafka-batch';
import { InvalidScoreEventError } from './errors.js';

export interface ScoreProducerOptions {
  readonly kafka: Kafka;
  readonly topicPrefix?: string;
  /** CloudEvents source of the events. */
  readonly source?: string;
}

/**
 * Sends score events: validates them first, keys them by player, so that a player's events stay in order, and retries
 * without duplicates. Whether a board accepts them (unknown columns, ...) shows only when ranklog applies them.
 */
export class ScoreProducer {
  readonly #producer: Producer;
  readonly #topic: string;
  readonly #source: string;
  readonly #choose = Partitioners.DefaultPartitioner();
  /** The partitions of the topic, as kafkajs knew them at the last send. */
  #partitions: PartitionMetadata[] | undefined;

  constructor({ kafka, topicPrefix, source = '/ranklog/client' }: ScoreProducerOptions) {
    patchKafkajs();
    this.#producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: () => (args) => {
        this.#partitions = args.partitionMetadata;
        return this.#choose(args);
      },
      retry: { initialRetryTime: 100, retries: 10 },
    });
    this.#topic = topicNames(topicPrefix).scoreEvents;
    this.#source = source;
  }

  async connect(): Promise<void> {
    await this.#producer.connect();
  }

  async disconnect(): Promise<void> {
    await this.#producer.disconnect();
  }

  /** Sends events in order; resolves when all in-sync replicas have them. @throws InvalidScoreEventError before any is sent */
  async send(events: readonly ScoreEvent[]): Promise<void> {
    await this.sendMessages(events.map((event) => this.toMessage(JSON.stringify(event))));
  }

  /** The message of a score event, with its JSON text unchanged. @throws InvalidScoreEventError */
  toMessage(json: string): Message {
    const decoded = decodeText(json);
    if (!decoded.ok) throw new InvalidScoreEventError(decoded.code, decoded.detail);
    const { playerId, eventId } = decoded.event;
    const id = eventId ?? randomUUID();
    const headers = cloudEventHeaders({ id, type: SCORE_EVENT_TYPE, source: this.#source });
    return { key: playerId, value: json, headers };
  }

  /**
   * Sends messages made by toMessage, in order within each partition. After a failure, the log may hold any number of the
   * first messages of each partition.
   * Each send has messages of one partition: when leaders move during a send to several brokers, kafkajs may drop messages
   * or send them twice. The very first message is sent alone, so that kafkajs learns the partitions.
   */
  async sendMessages(messages: readonly Message[]): Promise<void> {
    const alone = this.#partitions === undefined ? messages.slice(0, 1) : [];
    await this.#send(alone);
    const partitionMetadata = this.#partitions ?? [];
    const byPartition = new Map<number, Message[]>();
    for (const message of messages.slice(alone.length)) {
      const partition = this.#choose({ topic: this.#topic, partitionMetadata, message });
      const placed = byPartition.get(partition) ?? [];
      byPartition.set(partition, placed);
      placed.push({ ...message, partition });
    }
    const sends = [...byPartition.values()].map((placed) => this.#send(placed));
    // waits for all sends, so that none is pending when this throws
    for (const sent of await Promise.allSettled(sends))
      if (sent.status === 'rejected') throw sent.reason;
  }

  async #send(messages: readonly Message[]): Promise<void> {
    for (const chunk of sendChunks(messages))
      await this.#producer.send({ topic: this.#topic, messages: chunk, acks: -1 });
  }
}

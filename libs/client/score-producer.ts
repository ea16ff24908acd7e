import { randomUUID } from 'node:crypto';
import { Partitioners, type Kafka, type Message, type Producer } from 'kafkajs';
import {
  cloudEventHeaders,
  decodeText,
  SCORE_EVENT_TYPE,
  topicNames,
  type ScoreEvent,
} from '#contracts';
// Not by the index: that would bring Nest to everyone who sends events.
import { patchKafkajs } from '../kafka-batch/kafkajs-patches.js';
import { sendChunks } from '../kafka-batch/send-chunks.js';

/** A score event that ranklog would not take; `code` and `detail` are those of its dead letter. */
export class InvalidScoreEventError extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
    this.name = 'InvalidScoreEventError';
  }
}

export interface ScoreProducerOptions {
  readonly kafka: Kafka;
  /** What the names of the topics begin with. */
  readonly topicPrefix?: string;
  /** CloudEvents source of the events: who scores. */
  readonly source?: string;
}

/**
 * Writes score events: checked before they are sent, keyed by player, so that a player's events stay in order, and
 * without doubles when a send is retried. What a board makes of them (unknown columns, ...) is known only when they
 * are applied.
 */
export class ScoreProducer {
  readonly #producer: Producer;
  readonly #topic: string;
  readonly #source: string;

  constructor({ kafka, topicPrefix, source = '/ranklog/client' }: ScoreProducerOptions) {
    patchKafkajs();
    this.#producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
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

  /** Sends events in order; resolves when Kafka has them on disk. @throws InvalidScoreEventError before anything is sent */
  async send(events: readonly ScoreEvent[]): Promise<void> {
    await this.sendMessages(events.map((event) => this.toMessage(JSON.stringify(event))));
  }

  /** The message for a score event's JSON text, which is sent as it is. @throws InvalidScoreEventError */
  toMessage(json: string): Message {
    const decoded = decodeText(json);
    if (!decoded.ok) throw new InvalidScoreEventError(decoded.code, decoded.detail);
    const { playerId, eventId } = decoded.event;
    const id = eventId ?? randomUUID();
    const headers = cloudEventHeaders({ id, type: SCORE_EVENT_TYPE, source: this.#source });
    return { key: playerId, value: json, headers };
  }

  /** Sends messages of toMessage in order. After a failure, an unknown number of the first ones is in the log. */
  async sendMessages(messages: readonly Message[]): Promise<void> {
    for (const chunk of sendChunks(messages))
      await this.#producer.send({ topic: this.#topic, messages: chunk, acks: -1 });
  }
}

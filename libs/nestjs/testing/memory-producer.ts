import type { Kafka, Message, ProducerConfig, ProducerRecord, RecordMetadata } from 'kafkajs';
import { EARLIEST_TIME, resolveEvent, type BoardDefinition } from '#board';
import {
  decodePlayerRecord,
  decodeText,
  topicNames,
  type DecodedPlayerRecord,
  type PlayerRecordKind,
  type Source,
} from '#contracts';
import type { PlayerRecord, ScoreEvent } from '#client';
import {
  InvalidScoreEventError,
  ScoreProducer,
  type BoardReader,
  type EventPosition,
  type SendOutcome,
} from '#nestjs';

/** A ban, an unban or an erasure that was sent. */
export interface SentPlayerRecord extends PlayerRecord {
  readonly kind: PlayerRecordKind;
}

/** Replaces a Kafka client: keeps what is sent. Has one partition. */
export class MemoryKafka {
  readonly events: ScoreEvent[] = [];
  readonly playerRecords: SentPlayerRecord[] = [];
  #offset = 0;

  /** `applied` gets the player records, with their offsets. */
  constructor(private readonly applied: (record: DecodedPlayerRecord, offset: number) => void) {}

  /** kafkajs names its loggers; nothing is logged here. */
  logger() {
    return { namespace: () => undefined };
  }

  /** Answers whether the topic of score events exists. */
  admin() {
    return {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      listTopics: () => Promise.resolve([topicNames().scoreEvents]),
    };
  }

  producer(config: ProducerConfig) {
    const partitioner = config.createPartitioner?.();
    return {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      send: ({ topic, messages }: ProducerRecord): Promise<RecordMetadata[]> => {
        const baseOffset = String(this.#offset);
        for (const message of messages) {
          partitioner?.({ topic, message, partitionMetadata: [PARTITION] });
          this.#keep(message, this.#offset++);
        }
        return Promise.resolve([
          { topicName: topic, partition: 0, errorCode: 0, baseOffset, logAppendTime: '-1' },
        ]);
      },
    };
  }

  #keep({ key = null, value, headers = {} }: Message, offset: number): void {
    const bytes = Buffer.from(String(value));
    const record = { key: key === null ? null : Buffer.from(key), value: bytes };
    const decoded = decodePlayerRecord({ ...record, headers, timestamp: Date.now() });
    if (!decoded?.ok) {
      this.events.push(JSON.parse(bytes.toString()) as ScoreEvent);
      return;
    }

    const { board, playerId, reason, by, kind } = decoded.playerRecord;
    this.playerRecords.push({
      kind,
      board,
      playerId,
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
    });
    this.applied(decoded.playerRecord, offset);
  }
}

const PARTITION = {
  partitionId: 0,
  partitionErrorCode: 0,
  leader: 0,
  replicas: [0],
  isr: [0],
};

interface MemoryProducerOptions {
  readonly kafka: MemoryKafka;
  readonly reader: BoardReader;
  /** By board; undefined if the test gives no boards. */
  readonly definitions: ReadonlyMap<string, BoardDefinition> | undefined;
}

/**
 * A ScoreProducer whose events stay in memory. It also refuses what ranklog would refuse when it
 * applies the event.
 */
export class MemoryProducer extends ScoreProducer {
  readonly #reader: BoardReader;
  readonly #definitions: ReadonlyMap<string, BoardDefinition> | undefined;

  constructor({ kafka, reader, definitions }: MemoryProducerOptions) {
    super({ kafka: kafka as unknown as Kafka, reader });
    this.#reader = reader;
    this.#definitions = definitions;
  }

  /** Keeps the event. Resolves with the player's places in the standings of the test. */
  override async sendAndWait(event: ScoreEvent): Promise<SendOutcome> {
    await this.send(event);
    const isKnown = this.#definitions?.has(event.board) === true;
    const places = isKnown ? await this.#reader.placesOfEvent(event) : [];
    return { status: 'unchanged', places };
  }

  /** Keeps the events, also of a transaction. */
  override send(events: ScoreEvent | readonly ScoreEvent[]): Promise<Source[]> {
    return super.send(events);
  }

  override toMessage(json: string, position?: EventPosition): Message {
    const message = super.toMessage(json, position);
    const decoded = decodeText(json);
    if (this.#definitions === undefined || !decoded.ok) return message;
    const { event } = decoded;
    const definition = this.#definitions.get(event.board);
    if (definition === undefined) {
      const detail =
        `no board "${event.board}" is defined; the boards of this test are: ` +
        [...this.#definitions.keys()].join(', ');
      throw new InvalidScoreEventError('UNKNOWN_BOARD', detail, position);
    }
    const resolved = resolveEvent(definition, event, Date.now(), EARLIEST_TIME);
    if (!resolved.ok) throw new InvalidScoreEventError(resolved.code, resolved.detail, position);
    return message;
  }
}

import { randomUUID } from 'node:crypto';
import type { Message } from 'kafkajs';
import {
  encodePlayerRecord,
  playerRecordProblem,
  type PlayerRecord,
  type PlayerRecordKind,
  type Source,
} from '#contracts';
import { InvalidPlayerRecordError } from './client-errors.js';
import type { ScoreProducer } from './score-producer.js';

/** A BoardReader: it knows the time of the record that counts for a player. */
export interface BanReader {
  ban(board: string, playerId: string): Promise<{ readonly time: number } | null>;
}

export interface ModerationOptions {
  readonly producer: Pick<ScoreProducer, 'sendMessages'>;
  readonly reader: BanReader;
  /** CloudEvents source of the records. */
  readonly source?: string | undefined;
}

/** Where Kafka put a player record, and the time in ms by which it counts. */
export interface PlayerRecordPlace extends Source {
  readonly time: number;
}

/** How many players are looked up at a time. */
const LOOK_UPS = 100;

interface DatedMessage {
  readonly message: Message;
  readonly time: number;
}

/**
 * Bans, unbans and erases players, by records in the score topic: see PlayerRecordKind. Each counts for one board. A record is
 * dated later than the one that counts for its player now, also if that was sent by a host whose clock is ahead.
 */
export class ModerationProducer {
  readonly #source: string;

  constructor(private readonly options: ModerationOptions) {
    this.#source = options.source ?? '/ranklog/client';
  }

  /** Takes a player off all views of a board. The scores are kept, and go on changing. */
  async ban(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('banned', record);
  }

  /** Brings a banned player back, with all scores. Does nothing to an erased one. */
  async unban(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('unbanned', record);
  }

  /** Deletes what a board keeps of a player, for good: later events leave nothing either. */
  async erase(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('erased', record);
  }

  /**
   * Sends one record for each player and board; resolves when all in-sync replicas have them, with the place and time of each.
   * @throws InvalidPlayerRecordError before any is sent, SendError, and the errors of the reader
   */
  async send(
    kind: PlayerRecordKind,
    records: readonly PlayerRecord[],
  ): Promise<PlayerRecordPlace[]> {
    for (const [index, record] of records.entries()) {
      const problem = playerRecordProblem(record);
      if (problem !== undefined) throw new InvalidPlayerRecordError(index, problem);
    }
    const dated: DatedMessage[] = [];
    for (let first = 0; first < records.length; first += LOOK_UPS) {
      const some = records.slice(first, first + LOOK_UPS);
      dated.push(...(await Promise.all(some.map((record) => this.#message(kind, record)))));
    }
    const messages = dated.map(({ message }) => message);
    const places = await this.options.producer.sendMessages(messages);
    return dated.flatMap(({ message, time }) => {
      const place = places.get(message);
      return place === undefined ? [] : [{ ...place, time }];
    });
  }

  async #sendOne(kind: PlayerRecordKind, record: PlayerRecord): Promise<PlayerRecordPlace> {
    const [place] = await this.send(kind, [record]);
    return place as PlayerRecordPlace;
  }

  async #message(kind: PlayerRecordKind, record: PlayerRecord): Promise<DatedMessage> {
    const present = await this.options.reader.ban(record.board, record.playerId);
    const time = Math.max(Date.now(), (present?.time ?? -Infinity) + 1);
    const cause = { id: randomUUID(), source: this.#source, time };
    return { message: encodePlayerRecord(kind, record, cause), time };
  }
}

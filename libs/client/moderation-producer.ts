import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from 'kafkajs';
import {
  encodePlayerRecord,
  playerRecordProblem,
  type PlayerRecord,
  type PlayerRecordKind,
  type Source,
} from '#contracts';
import { InvalidPlayerRecordError, ResultUnknownError } from './client-errors.js';
import type { ScoreProducer } from './score-producer.js';

/** A BoardReader: it knows the record that counts for a player, and which records are applied. */
export interface BanReader {
  ban(board: string, playerId: string): Promise<CountingRecord | null>;
  appliedOffsets(board: string): Promise<ReadonlyMap<number, number>>;
}

type CountingRecord = Pick<PlayerRecordPlace, 'time' | 'partition' | 'offset'>;

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

/**
 * A player record that is applied: the player has left all views of the board, or is back in them.
 */
export interface AppliedPlayerRecord extends PlayerRecordPlace {
  /**
   * False if the record has no effect: another one counts for the player, or ranklog refused it.
   */
  readonly counts: boolean;
}

export interface AppliedOptions {
  /** How long to wait once Kafka has the records. */
  readonly timeoutMs: number;
}

/** The pause between two looks at the applied offsets. */
const POLL_MS = 50;

/** How many players are looked up at a time. */
const LOOK_UPS = 100;

interface DatedMessage {
  readonly message: Message;
  readonly time: number;
}

/**
 * Bans, unbans and erases players, by records in the score topic: see PlayerRecordKind. Each record
 * counts for one board. Its time is later than the time of the record that counts for the player
 * now, even if the sender of that record has a clock that is ahead.
 *
 * `ban`, `unban`, `erase` and `send` resolve when Kafka has the records. ranklog applies them a
 * moment later: `banAndWait`, `unbanAndWait`, `eraseAndWait` and `sendAndWait` wait for it.
 */
export class ModerationProducer {
  readonly #source: string;

  constructor(private readonly options: ModerationOptions) {
    this.#source = options.source ?? '/ranklog/client';
  }

  /** Takes a player off all views of a board. The board keeps the scores and updates them. */
  async ban(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('banned', record);
  }

  /**
   * Brings a banned player back, with all scores. Also sends a record for a player who is not
   * banned, because a ban may be on its way; without a ban, the record changes nothing. It does not
   * undo an erasure either: `unbanAndWait` then returns `counts: false`.
   */
  async unban(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('unbanned', record);
  }

  /** Deletes for good all that a board keeps of a player. Later events change nothing. */
  async erase(record: PlayerRecord): Promise<PlayerRecordPlace> {
    return this.#sendOne('erased', record);
  }

  /**
   * Like `ban`, but waits until the player has left all views.
   * @throws ResultUnknownError after `timeoutMs`: ranklog still applies it
   */
  async banAndWait(record: PlayerRecord, options: AppliedOptions): Promise<AppliedPlayerRecord> {
    return this.#sendOneAndWait('banned', record, options);
  }

  /**
   * Like `unban`, but waits until the player is back in all views.
   * @throws ResultUnknownError after `timeoutMs`: ranklog still applies it
   */
  async unbanAndWait(record: PlayerRecord, options: AppliedOptions): Promise<AppliedPlayerRecord> {
    return this.#sendOneAndWait('unbanned', record, options);
  }

  /**
   * Like `erase`, but waits until the board keeps nothing of the player.
   * @throws ResultUnknownError after `timeoutMs`: ranklog still applies it
   */
  async eraseAndWait(record: PlayerRecord, options: AppliedOptions): Promise<AppliedPlayerRecord> {
    return this.#sendOneAndWait('erased', record, options);
  }

  /**
   * Like `send`, but waits until all records are applied. `counts` is null for a record that is not
   * applied within `timeoutMs`.
   */
  async sendAndWait(
    kind: PlayerRecordKind,
    records: readonly PlayerRecord[],
    { timeoutMs }: AppliedOptions,
  ): Promise<(PlayerRecordPlace & { readonly counts: boolean | null })[]> {
    if (!(timeoutMs >= 0)) throw new RangeError(`timeoutMs is ${timeoutMs}; it must be 0 or more`);

    const places = await this.send(kind, records);
    const isApplied = await this.#applied(records, places, timeoutMs);
    const present = await this.#present(records);
    return places.map((place, index) => {
      const { partition, offset } = present[index] ?? {};
      const counts = partition === place.partition && offset === place.offset;
      return { ...place, counts: isApplied[index] ? counts : null };
    });
  }

  /**
   * Sends one record for each player and board; resolves when all in-sync replicas have them, with
   * the place and time of each.
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

    const present = await this.#present(records);
    const dated = records.map((record, index) => this.#message(kind, record, present[index]));
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

  async #sendOneAndWait(
    kind: PlayerRecordKind,
    record: PlayerRecord,
    options: AppliedOptions,
  ): Promise<AppliedPlayerRecord> {
    const [place] = await this.sendAndWait(kind, [record], options);
    const { counts, ...sent } = place as PlayerRecordPlace & { readonly counts: boolean | null };
    if (counts !== null) return { ...sent, counts };
    throw new ResultUnknownError(sent, record, `not applied after ${options.timeoutMs} ms`);
  }

  /**
   * Waits until the records at these places are applied, or for the timeout.
   * @returns whether each of them is applied
   */
  async #applied(
    records: readonly PlayerRecord[],
    places: readonly PlayerRecordPlace[],
    timeoutMs: number,
  ): Promise<boolean[]> {
    const end = performance.now() + timeoutMs;
    const boards = new Set(records.map(({ board }) => board));
    for (;;) {
      const applied = new Map<string, ReadonlyMap<number, number>>();
      for (const board of boards)
        applied.set(board, await this.options.reader.appliedOffsets(board));
      const isApplied = places.map(({ partition, offset }, index) => {
        const offsets = applied.get(records[index]?.board ?? '');
        return (offsets?.get(partition) ?? -1) >= offset;
      });
      if (isApplied.every(Boolean) || performance.now() >= end) return isApplied;
      await delay(POLL_MS);
    }
  }

  /** The records that count for the players now. */
  async #present(records: readonly PlayerRecord[]): Promise<(CountingRecord | null)[]> {
    const { reader } = this.options;
    const found: (CountingRecord | null)[] = [];
    for (let first = 0; first < records.length; first += LOOK_UPS) {
      const some = records.slice(first, first + LOOK_UPS);
      const reads = some.map(({ board, playerId }) => reader.ban(board, playerId));
      found.push(...(await Promise.all(reads)));
    }
    return found;
  }

  #message(
    kind: PlayerRecordKind,
    record: PlayerRecord,
    present: CountingRecord | null | undefined,
  ): DatedMessage {
    const time = Math.max(Date.now(), (present?.time ?? -Infinity) + 1);
    const cause = { id: randomUUID(), source: this.#source, time };
    return { message: encodePlayerRecord(kind, record, cause), time };
  }
}

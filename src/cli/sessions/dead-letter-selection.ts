import { suggestion } from '#board';
import {
  causeId,
  DEAD_LETTER_CODES,
  decodeDeadLetter,
  decodeRecord,
  type DeadLetter,
  type PlayerRecord,
} from '#contracts';
import { logRanges, type KafkaRecord, type LogRange } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { readWithProgress, type KafkaSession } from './kafka-session.js';

/** Selects dead letters; an absent field selects all. */
export interface LetterFilter {
  readonly ids?: readonly string[];
  readonly reason?: string;
  readonly board?: string;
  readonly partition?: number;
  /** The dead letter was published at or after `from` and before `until` (ms). */
  readonly from?: number;
  readonly until?: number;
}

/**
 * A dead letter. `id` names the refused record. `event` is the score event or the player record in
 * it, undefined if the record can't be decoded.
 */
export interface FoundLetter extends DeadLetter {
  readonly id: string;
  readonly record: KafkaRecord;
  readonly event: Pick<PlayerRecord, 'board' | 'playerId'> | undefined;
}

/** The dead letters that the topic has now and a filter selects. Can be read several times. */
export class DeadLetterSelection {
  private constructor(
    private readonly session: KafkaSession,
    private readonly filter: LetterFilter,
    private readonly ranges: ReadonlyMap<number, LogRange>,
  ) {}

  /** @throws CommandError for an unknown reason, TopicsMissingError */
  static async open(session: KafkaSession, filter: LetterFilter): Promise<DeadLetterSelection> {
    requireKnownReason(filter.reason);
    const topic = session.topics.deadLetters;
    await requireTopics(session.admin, [topic]);
    const ranges = await logRanges(session.kafka, topic);
    return new DeadLetterSelection(session, filter, ranges);
  }

  async *read(): AsyncGenerator<FoundLetter> {
    const { session, filter, ranges } = this;
    for await (const record of readWithProgress(session, ranges, session.topics.deadLetters)) {
      const letter = decodeDeadLetter(record);
      if (letter === undefined) continue;
      const found = { ...letter, id: causeId(letter), record, event: eventOf(record) };
      if (isSelected(found, filter)) yield found;
    }
  }
}

/** @throws CommandError */
function requireKnownReason(reason: string | undefined): void {
  const codes = Object.keys(DEAD_LETTER_CODES);
  if (reason === undefined || codes.includes(reason)) return;
  throw new CommandError(
    `there is no reason ${reason}${suggestion(reason, codes)}; the reasons: ${codes.join(', ')}`,
    EXIT.usage,
  );
}

function eventOf(record: KafkaRecord): FoundLetter['event'] {
  const decoded = decodeRecord(record);
  if (!decoded.ok) return undefined;
  return 'playerRecord' in decoded ? decoded.playerRecord : decoded.event;
}

export function isSelected(found: FoundLetter, filter: LetterFilter): boolean {
  const { ids = [], reason, board, partition, from = -Infinity, until = Infinity } = filter;
  const { timestamp } = found.record;
  return (
    (ids.length === 0 || ids.includes(found.id)) &&
    (reason === undefined || reason === found.code) &&
    (board === undefined || board === found.event?.board) &&
    (partition === undefined || partition === found.partition) &&
    timestamp >= from &&
    timestamp < until
  );
}

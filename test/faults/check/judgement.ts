import type { BoardDefinition, ResolvedEvent } from '#board';
import { decodeScoreEvent, type DecodedScoreEvent } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import { resolvePlainly } from '../../model/oracle-resolve.js';
import type { ReadRecord } from '../../support/results.js';

/** A record of the score topic; `id` is `topic/partition/offset`. */
interface PlacedRecord {
  readonly id: string;
  readonly partition: number;
  readonly offset: number;
  /** When it was written, in ms. */
  readonly timestamp: number;
}
/** A score event of a board that is known. */
export interface BoardRecord extends PlacedRecord {
  readonly event: DecodedScoreEvent;
}
/** A record that no definition takes. */
export interface BadRecord extends PlacedRecord {
  readonly code: string;
}

/** The log in the order of its partitions: events of known boards, and what is none. */
export function readLog(
  topic: string,
  boards: ReadonlySet<string>,
  log: readonly ReadRecord[],
): { events: BoardRecord[]; bad: BadRecord[] } {
  const events: BoardRecord[] = [];
  const bad: BadRecord[] = [];
  for (const record of inLogOrder(log)) {
    const { partition, offset, timestamp } = record;
    const placed = { id: `${topic}/${partition}/${offset}`, partition, offset, timestamp };
    const decoded = decodeScoreEvent(record);
    if (!decoded.ok) bad.push({ ...placed, code: decoded.code });
    else if (boards.has(decoded.event.board)) events.push({ ...placed, event: decoded.event });
    else bad.push({ ...placed, code: 'UNKNOWN_BOARD' });
  }
  return { events, bad };
}

function inLogOrder<T extends { readonly partition: number; readonly offset: number }>(
  records: readonly T[],
): T[] {
  return records.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset);
}

/** What becomes of an event by one definition. */
export interface Outcome {
  /** In the terms of the board; missing where it is refused for what it says. */
  readonly event?: ResolvedEvent;
  /** Published views that it changes: with one at least, it has a rank change. */
  readonly moved: readonly string[];
  /** Of a dead letter: those that may be told. */
  readonly reasons?: ReadonlySet<string>;
}

/** What one definition makes of the log. */
export interface Judgement {
  readonly definition: BoardDefinition;
  /** After all events. */
  readonly oracle: Oracle;
  /** By the id of the record. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/**
 * Applies the events of the definition's board to an oracle, one partition after the other: a player's events are in one
 * partition, so any other interleaving gives the same.
 */
export function judge(definition: BoardDefinition, events: readonly BoardRecord[]): Judgement {
  const oracle = new Oracle([definition]);
  const own = events.filter(({ event }) => event.board === definition.board);
  const outcomes = new Map(own.map((record) => [record.id, outcomeOf(definition, oracle, record)]));
  return { definition, oracle, outcomes };
}

function outcomeOf(
  definition: BoardDefinition,
  oracle: Oracle,
  { event: input, timestamp, partition }: BoardRecord,
): Outcome {
  const { event, reasons } = resolvePlainly(definition, { input, timestamp });
  if (event === undefined) return { moved: [], reasons: new Set(reasons) };
  const { verdict, moved } = oracle.apply(definition.board, unpublished(event), partition);
  const published = event.views.filter((view) => view.published && moved.includes(view.view));
  const outcome = { event, moved: published.map(({ view }) => view) };
  return verdict?.kind === 'deadLetter'
    ? { ...outcome, reasons: new Set([verdict.code]) }
    : outcome;
}

/** The oracle works out ranks, which is slow, only for views that are published. */
export function unpublished(event: ResolvedEvent): ResolvedEvent {
  return { ...event, views: event.views.map((view) => ({ ...view, published: false })) };
}

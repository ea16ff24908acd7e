import type { BoardDefinition, ResolvedEvent } from '#board';
import { decodeScoreEvent } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import { resolvePlainly } from '../../model/oracle-resolve.js';
import type { ReadRecord } from '../../support/results.js';

/** A score event that a board takes, in the board's terms. */
export interface ExpectedEvent {
  readonly board: string;
  readonly partition: number;
  readonly offset: number;
  /** When its record was written, in ms. */
  readonly timestamp: number;
  readonly event: ResolvedEvent;
}

/** What has to become of a score topic. Records are named `topic/partition/offset`. */
export interface Expected {
  /** After all events. */
  readonly oracle: Oracle;
  /** Every event that is well-formed, whether it changed anything or not. */
  readonly events: ReadonlyMap<string, ExpectedEvent>;
  /** Events that changed their player in a view: each has one rank change. */
  readonly applied: ReadonlySet<string>;
  /** Bad records, with the reasons that may be told of each. */
  readonly deadLetters: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Applies the whole log to the oracle, one partition after the other: a player's events are in one partition, so any
 * other interleaving gives the same.
 */
export function expectedOf(
  topic: string,
  definitions: readonly BoardDefinition[],
  log: readonly ReadRecord[],
): Expected {
  const oracle = new Oracle(definitions);
  const boards = new Map(definitions.map((definition) => [definition.board, definition]));
  const events = new Map<string, ExpectedEvent>();
  const applied = new Set<string>();
  const deadLetters = new Map<string, ReadonlySet<string>>();
  for (const record of inLogOrder(log)) {
    const { partition, offset, timestamp } = record;
    const id = `${topic}/${partition}/${offset}`;
    const read = readPlainly(record, boards);
    if (read instanceof Set) {
      deadLetters.set(id, read);
      continue;
    }
    events.set(id, { ...read, partition, offset, timestamp });
    const { verdict, moved } = oracle.apply(read.board, unpublished(read.event), partition);
    if (verdict?.kind === 'deadLetter') deadLetters.set(id, new Set([verdict.code]));
    if (read.event.views.some(({ view, published }) => published && moved.includes(view)))
      applied.add(id);
  }
  return { oracle, events, applied, deadLetters };
}

export function inLogOrder<T extends { readonly partition: number; readonly offset: number }>(
  records: readonly T[],
): T[] {
  return records.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset);
}

/** The oracle works out ranks, which is slow, only for views that are published. */
function unpublished(event: ResolvedEvent): ResolvedEvent {
  return { ...event, views: event.views.map((view) => ({ ...view, published: false })) };
}

/** An event in the terms of its board, or the reasons why it is refused. */
function readPlainly(
  record: ReadRecord,
  boards: ReadonlyMap<string, BoardDefinition>,
): { board: string; event: ResolvedEvent } | Set<string> {
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok) return new Set([decoded.code]);
  const { board, ...input } = decoded.event;
  const definition = boards.get(board);
  if (definition === undefined) return new Set(['UNKNOWN_BOARD']);
  const { event, reasons } = resolvePlainly(definition, { input, timestamp: record.timestamp });
  return event === undefined ? new Set(reasons) : { board, event };
}

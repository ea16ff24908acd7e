import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  banText,
  parseBan,
  type ApplyEntry,
  type BoardEntry,
  type Boards,
  type EventEntry,
  type LiveBoard,
  type PlayerEntry,
  type Starts,
} from '#board-store';
import { placed, type PlacedRecord } from './logs.js';
import type { OracleRecord } from './oracle-memory.js';
import { resolvePlainlyAt, type PlainResolution } from './oracle-resolve.js';
import type { Scenario } from './scenario.js';

/** A record as it is applied now. A record of kind `none` has nothing to apply, and no result. */
export type LogEntry = ApplyEntry | { readonly kind: 'none'; readonly offset: number };

type PlacedEvent = Extract<PlacedRecord, { readonly kind: 'event' }>;

/**
 * The log of a scenario. It resolves its records against the live boards, or against a generation.
 */
export class ScenarioLog {
  readonly #records: readonly (readonly PlacedRecord[])[];
  readonly #boards: readonly string[];
  readonly #resolved = new Map<BoardDefinition, Map<PlacedEvent, PlainResolution>>();

  constructor({ logs, variants }: Scenario) {
    this.#boards = variants.map(([first]) => first!.board);
    this.#records = logs.map(placed);
  }

  get partitions(): number {
    return this.#records.length;
  }

  offsets(partition: number): readonly number[] {
    return this.#records[partition]!.map(({ offset }) => offset);
  }

  /** The offset after the last record. */
  end(partition: number): number {
    return (this.offsets(partition).at(-1) ?? -1) + 1;
  }

  /** The board and the player that a record names; undefined if the record is no event. */
  target(partition: number, offset: number): { board: string; playerId: string } | undefined {
    const record = this.#records[partition]!.find((one) => one.offset === offset);
    if (record === undefined || record.kind === 'deadLetter') return undefined;
    const { playerId } = record.kind === 'event' ? record.sent.input : record.sent;
    return { board: this.#boards[record.board]!, playerId };
  }

  /** The records of a partition, resolved against the live boards. */
  live(partition: number, boards: Boards): readonly LogEntry[] {
    return this.#records[partition]!.map((record) => this.#entry(record, partition, boards));
  }

  /**
   * The events and player records of a partition that are applied to a generation when the whole
   * log is applied: player records also from before its start.
   */
  entries({ board, definition, starts }: LiveBoard, partition: number): readonly BoardEntry[] {
    return this.#records[partition]!.flatMap((record): BoardEntry[] => {
      if (record.kind === 'deadLetter' || this.#boards[record.board] !== board) return [];
      if (record.kind === 'player')
        return isVoid(definition, record) ? [] : [playerEntry(board, record)];
      if (isBefore(starts, partition, record.offset)) return [];
      const { event } = this.#resolve(definition, record);
      return event === undefined ? [] : [eventEntry(record.offset, board, event)];
    });
  }

  #entry(record: PlacedRecord, partition: number, boards: Boards): LogEntry {
    const { offset } = record;
    if (record.kind === 'deadLetter') {
      const { kind, code, detail } = record;
      return { kind, offset, code, detail };
    }
    const board = this.#boards[record.board]!;
    const live = boards.live.get(board);
    if (live === undefined)
      return boards.building.has(board)
        ? { kind: 'none', offset }
        : { kind: 'deadLetter', offset, code: 'UNKNOWN_BOARD', detail: board };
    if (record.kind === 'player')
      return isVoid(live.definition, record)
        ? { kind: 'none', offset }
        : playerEntry(board, record);
    if (isBefore(live.starts, partition, offset)) return { kind: 'none', offset };
    const { event, reasons } = this.#resolve(live.definition, record);
    if (event !== undefined) return eventEntry(offset, board, event);
    const [code] = [...reasons];
    return code === 'WINDOW_CLOSED' && live.definition.late === 'count'
      ? { kind: 'none', offset }
      : { kind: 'deadLetter', offset, code: code!, detail: 'refused' };
  }

  #resolve(definition: BoardDefinition, record: PlacedEvent): PlainResolution {
    const known = this.#resolved.get(definition) ?? new Map<PlacedEvent, PlainResolution>();
    this.#resolved.set(definition, known);
    const resolved = known.get(record) ?? resolvePlainlyAt(definition, record.sent, record);
    known.set(record, resolved);
    return resolved;
  }
}

function isBefore(starts: Starts | undefined, partition: number, offset: number): boolean {
  return offset < (starts?.get(partition) ?? 0);
}

type PlacedPlayerRecord = Extract<PlacedRecord, { readonly kind: 'player' }>;

function isVoid({ voids = [] }: BoardDefinition, { partition, offset }: PlacedRecord): boolean {
  return voids.some((place) => place.partition === partition && place.offset === offset);
}

function playerEntry(board: string, { sent, ...place }: PlacedPlayerRecord): PlayerEntry {
  const { kind, playerId, time } = sent;
  const entry = banText({ board, kind, playerId, occurredAt: time }, place);
  return { kind: 'player', offset: place.offset, board, playerId, entry };
}

/** A player record in the terms of the oracle. */
export function oracleRecord({ playerId, entry }: PlayerEntry): OracleRecord {
  const { kind, time, partition, offset } = parseBan(playerId, entry);
  return { kind, playerId, time, partition, offset };
}

function eventEntry(offset: number, board: string, event: ResolvedEvent): EventEntry {
  return { kind: 'event', offset, board, event };
}

function mayJoin(call: readonly LogEntry[], entry: LogEntry): boolean {
  const others = call.filter(({ kind }) => kind !== 'none');
  if (entry.kind === 'none' || others.length === 0) return true;
  return others.every((other) => {
    if (other.kind !== 'player' || entry.kind !== 'player')
      return other.kind !== 'player' && entry.kind !== 'player';
    return other.board === entry.board && other.playerId !== entry.playerId;
  });
}

/** The offset after the first `count` records. */
export function offsetAfter(log: readonly LogEntry[], count: number): number {
  return (log.slice(0, count).at(-1)?.offset ?? -1) + 1;
}

/**
 * Splits a run into calls, none of which straddles the published position. Player records are in
 * calls of their own: of one board, at most one of each player. An empty run is one call, too.
 */
export function splitAt(run: readonly LogEntry[], published: number): (readonly LogEntry[])[] {
  const calls: LogEntry[][] = [[]];
  for (const [index, entry] of run.entries()) {
    const before = run[index - 1];
    const isSplit = before !== undefined && before.offset < published && entry.offset >= published;
    if (isSplit || !mayJoin(calls.at(-1)!, entry)) calls.push([]);
    calls.at(-1)!.push(entry);
  }
  return calls;
}

import { definitionHash, definitionText, withVoids, type BoardDefinition } from '#board';
import type { Boards, LiveBoard, ReconciliationStatus, Starts } from '#board-store';
import type { LogRange } from '#kafka-batch';
import type { CutPartition } from '../runs/run-errors.js';
import type { ClosingChange } from './closing-changes.js';
import { fieldChanges, type FieldChange } from './field-changes.js';
import type { LeftOut } from './left-out.js';

/**
 * What differs between the boards file and the live boards, and what a build would cost. Printed as
 * JSON.
 */
export interface Plan {
  readonly boards: readonly PlannedBoard[];
  /** null: there is nothing to build. */
  readonly backfill: Backfill | null;
  /**
   * Partitions whose beginning is gone from the log: boards that are built now will lack these
   * records.
   */
  readonly cut: readonly CutPartition[];
  /**
   * If a new board will be built: the live boards that have banned or erased players, and how many.
   */
  readonly bans: readonly { readonly board: string; readonly count: number }[];
}

export interface PlannedBoard {
  readonly board: string;
  /**
   * `building`: the first generation of the board is not live yet. `removed`: the board is not in
   * the file.
   */
  readonly change: 'new' | 'building' | 'changed' | 'same' | 'removed';
  readonly generation: string | null;
  readonly fields: readonly FieldChange[];
  /** Memory of the live generation in Redis, if a second generation will be built. */
  readonly liveBytes: number | null;
  /**
   * Where the new generation will begin, by partition, if that is where the live one begins and not
   * the start of the log.
   */
  readonly startsAt: Readonly<Record<string, number>> | null;
  /** What the build leaves out of the live generation; null if it builds no changed board. */
  readonly leftOut: LeftOut | null;
  /** Window instances that have ended, and that the build closes at another time. */
  readonly closings: readonly ClosingChange[];
  /** The build in progress. If it has the definition of the file, no second build is needed. */
  readonly builtBy: BuiltBy | null;
}

/** A build in progress: how many records of the log it has read, of how many. */
export interface BuiltBy extends Pick<ReconciliationStatus, 'holder' | 'done' | 'total'> {
  /** Whether it builds the definition of the file, or another one. */
  readonly definition: 'same' | 'other';
}

/** The records of the log that will be read, once for all boards. */
export interface Backfill {
  readonly records: number;
  /** The last build that read records and succeeded, if one is known. */
  readonly lastBuild: { readonly records: number; readonly seconds: number } | null;
}

/**
 * A board of the file or of Redis, and how its definition in the file differs from the live one.
 */
export interface BoardChange extends Pick<PlannedBoard, 'board' | 'change' | 'fields' | 'builtBy'> {
  readonly live?: LiveBoard | undefined;
}

/**
 * Whether the definition of the file has to be built, and no build of that definition is in
 * progress.
 */
export function needsBuild({ change, builtBy }: Pick<BoardChange, 'change' | 'builtBy'>): boolean {
  const isCurrent = change === 'same' || change === 'removed';
  return !isCurrent && builtBy?.definition !== 'same';
}

/** The boards of the file in its order, then those that the file lacks, by name. */
export function boardChanges(
  file: readonly BoardDefinition[],
  { live, building }: Pick<Boards, 'live' | 'building'>,
  statuses: readonly ReconciliationStatus[],
): BoardChange[] {
  const none = { fields: [], builtBy: null };
  const changes = file.map((definition): BoardChange => {
    const { board } = definition;
    const now = live.get(board);
    if (now === undefined)
      return building.has(board)
        ? { board, change: 'building', fields: [], builtBy: builderOf(definition, statuses) }
        : { board, change: 'new', ...none };
    const wanted = withVoids(definition, now.definition.voids); // a build keeps them
    const isSame = definitionText(now.definition) === definitionText(wanted);
    const fields = isSame ? [] : fieldChanges(now.definition, definition);
    return { board, change: isSame ? 'same' : 'changed', live: now, fields, builtBy: null };
  });
  const inFile = new Set(file.map(({ board }) => board));
  const others = [...live.keys(), ...building].filter((board) => !inFile.has(board)).sort();
  for (const board of others)
    changes.push({ board, change: 'removed', live: live.get(board), ...none });
  return changes;
}

function builderOf(
  definition: BoardDefinition,
  statuses: readonly ReconciliationStatus[],
): BuiltBy | null {
  const { board } = definition;
  const run = statuses.find((status) => status.board === board && status.state === 'running');
  if (run?.kind !== 'build') return null;
  const { holder, done, total, generation } = run;
  // The id of a generation ends with the hash of its definition. A build without a generation yet
  // is assumed to match.
  const isSame = generation === '' || generation.endsWith(`-${definitionHash(definition)}`);
  return { holder, done, total, definition: isSame ? 'same' : 'other' };
}

/** The offsets that a build reads. */
export interface LogFacts {
  readonly ranges: ReadonlyMap<number, LogRange>;
  /** The live applied offset of each partition, where a build ends. */
  readonly appliedOffsets: ReadonlyMap<number, number>;
  /** The first offset of the build by partition, by default 0; the log may begin later. */
  readonly begins: Starts;
}

/** The ranges of the log that a build reads. */
export function rangesToRead({ ranges, appliedOffsets, begins }: LogFacts): Map<number, LogRange> {
  const read = [...appliedOffsets].map(([partition, appliedOffset]): [number, LogRange] => {
    const log = ranges.get(partition) ?? { start: 0, end: 0 };
    const start = Math.max(log.start, begins.get(partition) ?? 0);
    // A log that was made again may end before the applied offset.
    return [partition, { start, end: Math.max(start, Math.min(appliedOffset + 1, log.end)) }];
  });
  return new Map(read);
}

/**
 * How much of the log a build reads, and how long the last build took. Transaction markers count as
 * records.
 */
export function backfillOf(facts: LogFacts, statuses: readonly ReconciliationStatus[]): Backfill {
  const counts = [...rangesToRead(facts).values()].map(({ start, end }) => end - start);
  const [last] = statuses
    .filter(({ kind, state, total }) => kind === 'build' && state === 'done' && total > 0)
    .sort((a, b) => b.updatedAt - a.updatedAt);
  const records = counts.reduce((sum, count) => sum + count, 0);
  if (last === undefined) return { records, lastBuild: null };
  const seconds = (last.updatedAt - last.startedAt) / 1_000;
  return { records, lastBuild: { records: last.total, seconds } };
}

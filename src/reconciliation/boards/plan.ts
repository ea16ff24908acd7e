import { definitionHash, definitionText, withVoids, type BoardDefinition } from '#board';
import type { Boards, LiveBoard, ReconciliationStatus, Starts } from '#board-store';
import type { LogRange } from '#kafka-batch';
import type { CutPartition } from '../runs/run-errors.js';
import type { ClosingChange } from './closing-changes.js';
import { fieldChanges, type FieldChange } from './field-changes.js';
import type { LeftOut } from './left-out.js';

/** How the boards file differs from the live boards, and the cost of a build. Printed as JSON. */
export interface Plan {
  readonly boards: readonly PlannedBoard[];
  /** null: there is nothing to build. */
  readonly backfill: Backfill | null;
  /** Partitions whose log has lost its beginning: boards that are built now lack these records. */
  readonly cut: readonly CutPartition[];
  /** If a new board will be built: how many banned or erased players the live boards have. */
  readonly bans: readonly { readonly board: string; readonly count: number }[];
}

export interface PlannedBoard {
  readonly board: string;
  /** `building`: its first generation is not live yet. `removed`: it is not in the file. */
  readonly change: 'new' | 'building' | 'changed' | 'same' | 'removed';
  readonly generation: string | null;
  readonly fields: readonly FieldChange[];
  /** Memory of the live generation in Redis, if a second generation will be built. */
  readonly liveBytes: number | null;
  /**
   * Where the new generation will begin, by partition: where the live one begins. null if it begins
   * at the start of the log, or at `from`.
   */
  readonly startsAt: Readonly<Record<string, number>> | null;
  /** Events that the live generation has and the build leaves out; null if no board changes. */
  readonly leftOut: LeftOut | null;
  /** Ended instances of windows that the build closes at another time. */
  readonly closings: readonly ClosingChange[];
  /** The build in progress. If it has the definition of the file, no second build is needed. */
  readonly builtBy: BuiltBy | null;
}

/** A build in progress: who builds, and how many records of the log it has read. */
export interface BuiltBy extends Pick<ReconciliationStatus, 'holder' | 'done' | 'total'> {
  /** Whether it builds the definition of the file, or another one. */
  readonly definition: 'same' | 'other';
}

/** How much of the log will be read, once for all boards. */
export interface Backfill {
  readonly records: number;
  /** The last build that read records and succeeded, if one is known. */
  readonly lastBuild: { readonly records: number; readonly seconds: number } | null;
}

/** A board of the file or of Redis, and how its definition in the file differs from Redis. */
export interface BoardChange extends Pick<PlannedBoard, 'board' | 'change' | 'fields' | 'builtBy'> {
  readonly live?: LiveBoard | undefined;
}

/** Whether the definition of the file has to be built, and no build of it is in progress. */
export function needsBuild({ change, builtBy }: Pick<BoardChange, 'change' | 'builtBy'>): boolean {
  if (change === 'same' || change === 'removed') return false;
  return builtBy?.definition !== 'same';
}

/** The boards of the file in its order, then those that the file lacks, by name. */
export function boardChanges(
  file: readonly BoardDefinition[],
  { live, building }: Pick<Boards, 'live' | 'building'>,
  statuses: readonly ReconciliationStatus[],
): BoardChange[] {
  const changes = file.map((definition): BoardChange => {
    const { board } = definition;
    const liveBoard = live.get(board);
    if (liveBoard !== undefined) return changeOfLive(liveBoard, definition);

    const change = building.has(board) ? 'building' : 'new';
    const builtBy = change === 'building' ? builderOf(definition, statuses) : null;
    return { board, change, fields: [], builtBy };
  });

  const inFile = new Set(file.map(({ board }) => board));
  const others = [...live.keys(), ...building].filter((board) => !inFile.has(board)).sort();
  for (const board of others)
    changes.push({ board, change: 'removed', live: live.get(board), fields: [], builtBy: null });
  return changes;
}

function changeOfLive(live: LiveBoard, definition: BoardDefinition): BoardChange {
  const { board } = definition;
  const wanted = withVoids(definition, live.definition.voids); // a build keeps the voids
  if (definitionText(live.definition) === definitionText(wanted))
    return { board, change: 'same', live, fields: [], builtBy: null };

  const fields = fieldChanges(live.definition, definition);
  return { board, change: 'changed', live, fields, builtBy: null };
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

/** Offsets that determine how much of the log a build reads. */
interface LogFacts {
  readonly ranges: ReadonlyMap<number, LogRange>;
  /** The live applied offset of each partition, where a build ends. */
  readonly appliedOffsets: ReadonlyMap<number, number>;
  /** The first offset of the build by partition, by default 0; the log may begin later. */
  readonly begins: Starts;
}

/** The ranges of the log that a build reads. */
export function rangesToRead({ ranges, appliedOffsets, begins }: LogFacts): Map<number, LogRange> {
  const read = new Map<number, LogRange>();
  for (const [partition, appliedOffset] of appliedOffsets) {
    const log = ranges.get(partition) ?? { start: 0, end: 0 };
    const start = Math.max(log.start, begins.get(partition) ?? 0);
    // A topic that was created again may end before the applied offset.
    const end = Math.min(appliedOffset + 1, log.end);
    read.set(partition, { start, end: Math.max(start, end) });
  }
  return read;
}

/** How much of the log a build reads (counts offsets), and how long the last build took. */
export function backfillOf(facts: LogFacts, statuses: readonly ReconciliationStatus[]): Backfill {
  let records = 0;
  for (const { start, end } of rangesToRead(facts).values()) records += end - start;

  const builds = statuses.filter(
    ({ kind, state, total }) => kind === 'build' && state === 'done' && total > 0,
  );
  const [last] = builds.sort((a, b) => b.updatedAt - a.updatedAt);
  if (last === undefined) return { records, lastBuild: null };

  const seconds = (last.updatedAt - last.startedAt) / 1_000;
  return { records, lastBuild: { records: last.total, seconds } };
}

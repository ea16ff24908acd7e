import { definitionHash, type BoardDefinition } from '#board';
import type { ReconciliationStatus } from '#board-store';
import type { CutPartition } from '../generations/errors.js';
import type { Backfill } from './backfill.js';
import { boardOf, type BoardChange } from './board-changes.js';
import type { FieldChange } from './field-changes.js';

/** What differs between the boards file and the live boards, and what it takes to make them the same. JSON as it is. */
export interface Plan {
  readonly boards: readonly PlannedBoard[];
  /** null: nothing is to be built. */
  readonly backfill: Backfill | null;
  /** Partitions whose beginning is gone: boards that are built now lack it. */
  readonly cut: readonly CutPartition[];
}

export interface PlannedBoard {
  readonly board: string;
  readonly change: BoardChange['change'];
  /** The live one; null: there is none. */
  readonly generation: string | null;
  readonly fields: readonly FieldChange[];
  /** What the live generation takes in Redis, if another one is to be built beside it; else null. */
  readonly liveBytes: number | null;
  /** Offsets by partition where the new generation begins, as the live one does; null: with the log, where none is built, or by `--from`. */
  readonly startsAt: Readonly<Record<string, number>> | null;
  /** Who builds it already: that is left to them, if it is by the definition of the file. */
  readonly builtBy: BuiltBy | null;
}

/** A build that is under way: records of the log that it has read, of those to be read. */
export interface BuiltBy {
  readonly holder: string;
  readonly done: number;
  readonly total: number;
  /** As the file has it, or as it was before. */
  readonly definition: 'same' | 'other';
}

/** What a plan is made of, beside the changes themselves. */
export interface PlanFacts {
  /** Of live generations, by board. */
  readonly liveBytes: ReadonlyMap<string, number>;
  readonly backfill: Backfill;
  readonly cut: readonly CutPartition[];
  /** Whether new generations begin where the live ones do. */
  readonly keepsStarts: boolean;
}

/** Whether a board has to be built for the file to be in force, and nobody is at it. */
export function needsBuild({ change, builtBy }: Pick<PlannedBoard, 'change' | 'builtBy'>): boolean {
  const isCurrent = change === 'same' || change === 'removed';
  return !isCurrent && builtBy?.definition !== 'same';
}

/** The same of a change. */
export function toBeBuilt(change: BoardChange): boolean {
  return needsBuild({ change: change.change, builtBy: builderOf(change) });
}

/** A plan for changes of which nothing is to be built. */
export function idlePlan(changes: readonly BoardChange[]): Plan {
  return { boards: changes.map(unbuilt), backfill: null, cut: [] };
}

export function planOf(changes: readonly BoardChange[], facts: PlanFacts): Plan {
  return {
    boards: changes.map((change) => (toBeBuilt(change) ? built(change, facts) : unbuilt(change))),
    backfill: facts.backfill,
    cut: facts.cut,
  };
}

function unbuilt(change: BoardChange): PlannedBoard {
  const live = 'live' in change ? change.live : undefined;
  return {
    board: boardOf(change),
    change: change.change,
    generation: live?.generation ?? null,
    fields: change.change === 'changed' ? change.fields : [],
    liveBytes: null,
    startsAt: null,
    builtBy: builderOf(change),
  };
}

function builderOf(change: BoardChange): BuiltBy | null {
  if (change.change !== 'building' || change.run === undefined) return null;
  const { run, definition } = change;
  const { holder, done, total } = run;
  return { holder, done, total, definition: isBuildOf(definition, run) ? 'same' : 'other' };
}

/** A generation has the hash of its definition in its name; one that has none yet is believed. */
function isBuildOf(definition: BoardDefinition, { generation }: ReconciliationStatus): boolean {
  return generation === '' || generation.endsWith(`-${definitionHash(definition)}`);
}

function built(change: BoardChange, { liveBytes, keepsStarts }: PlanFacts): PlannedBoard {
  const plain = unbuilt(change);
  const starts = change.change === 'changed' && keepsStarts ? change.live.starts : undefined;
  return {
    ...plain,
    liveBytes: liveBytes.get(plain.board) ?? null,
    startsAt: starts === undefined ? null : Object.fromEntries(starts),
  };
}

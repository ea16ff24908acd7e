import { definitionText, type BoardDefinition } from '#board';
import type { Boards, LiveBoard, ReconciliationStatus } from '#board-store';
import { fieldChanges, type FieldChange } from './field-changes.js';

/** What the boards file says of a board beside what is live. */
export type BoardChange =
  /** In the file alone. */
  | { readonly change: 'new'; readonly definition: BoardDefinition }
  /** In the file, and without its first generation yet, so nothing of it can be read. */
  | {
      readonly change: 'building';
      readonly definition: BoardDefinition;
      /** The build that is under way; missing: nobody is at it. */
      readonly run?: ReconciliationStatus;
    }
  | {
      readonly change: 'changed';
      readonly definition: BoardDefinition;
      readonly live: LiveBoard;
      readonly fields: readonly FieldChange[];
    }
  | { readonly change: 'same'; readonly definition: BoardDefinition; readonly live: LiveBoard }
  /** Live, or being built, but not in the file. */
  | { readonly change: 'removed'; readonly board: string; readonly live?: LiveBoard };

/** What is there of boards. */
export interface PresentBoards extends Pick<Boards, 'live' | 'building'> {
  readonly statuses: readonly ReconciliationStatus[];
}

/** Each board of the file in its order, then those that the file does not have, by name. */
export function boardChanges(
  file: readonly BoardDefinition[],
  present: PresentBoards,
): BoardChange[] {
  const { live, building } = present;
  const inFile = new Set(file.map(({ board }) => board));
  const others = [...live.keys(), ...building].filter((board) => !inFile.has(board)).sort();
  return [
    ...file.map((definition) => boardChange(definition, present)),
    ...others.map((board) => removed(board, live.get(board))),
  ];
}

/** The name of a board and whatever becomes of it. */
export function boardOf(change: BoardChange): string {
  return 'definition' in change ? change.definition.board : change.board;
}

function boardChange(
  definition: BoardDefinition,
  { live, building, statuses }: PresentBoards,
): BoardChange {
  const { board } = definition;
  const now = live.get(board);
  if (now === undefined && building.has(board))
    return { change: 'building', definition, ...runningBuild(board, statuses) };
  if (now === undefined) return { change: 'new', definition };
  if (definitionText(now.definition) === definitionText(definition))
    return { change: 'same', definition, live: now };
  return {
    change: 'changed',
    definition,
    live: now,
    fields: fieldChanges(now.definition, definition),
  };
}

function runningBuild(
  board: string,
  statuses: readonly ReconciliationStatus[],
): { run?: ReconciliationStatus } {
  const run = statuses.find((status) => status.board === board && status.state === 'running');
  return run?.kind === 'build' ? { run } : {};
}

function removed(board: string, live: LiveBoard | undefined): BoardChange {
  return live === undefined ? { change: 'removed', board } : { change: 'removed', board, live };
}

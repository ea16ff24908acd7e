import type { Redis } from 'ioredis';
import {
  LeaseStore,
  type BoardReader,
  type KeySpace,
  type LiveBoard,
  type ReconciliationStatus,
} from '#board-store';
import { reconciliationJson } from '../generations/reconciliation-json.js';
import { table } from './output.js';
import { startsJson, startsText } from './formats.js';
import { countText, durationText } from './formats.js';

/** Runs on boards, and boards that are not complete. */
export interface BoardsWork {
  /** The running or last run of each board. */
  readonly reconciliations: readonly ReconciliationStatus[];
  /** Boards before their first generation. */
  readonly building: readonly string[];
  /** Live boards that lack the beginning of the log. */
  readonly partial: readonly LiveBoard[];
}

export async function readWork(
  redis: Redis,
  keys: KeySpace,
  reader: Pick<BoardReader, 'boards' | 'shards'>,
): Promise<BoardsWork> {
  const shards = await reader.shards();
  const [{ live, building }, reconciliations] = await Promise.all([
    reader.boards(),
    new LeaseStore(redis, keys, { shards }).statuses(),
  ]);
  const partial = [...live.values()].filter(({ starts }) => starts !== undefined);
  return { reconciliations, building: [...building].sort(), partial };
}

export function workJson({ reconciliations, building, partial }: BoardsWork) {
  return {
    building,
    partialHistory: partial.map(({ board, generation, starts }) => ({
      board,
      generation,
      startsAt: startsJson(starts ?? new Map()),
    })),
    reconciliations: reconciliations.map(reconciliationJson),
  };
}

/** Paragraphs for running and failed runs, boards that wait for a build, and partial boards. */
export function workText({ reconciliations, building, partial }: BoardsWork): string[] {
  const shown = reconciliations.filter(({ state }) => state === 'running' || state === 'failed');
  const worked = new Set(shown.map(({ board }) => board));
  const waiting = building.filter((board) => !worked.has(board));
  return [
    ...(shown.length === 0 ? [] : [reconciliationsTable(shown)]),
    ...(waiting.length === 0
      ? []
      : [
          `not built yet, so not readable: ${waiting.join(', ')}; the role reconciliation or "ranklog boards apply" builds them`,
        ]),
    ...partial.map(
      ({ board, starts }) =>
        `board ${board} lacks the beginning of the log: ${startsText(startsJson(starts ?? new Map()))}`,
    ),
  ];
}

function reconciliationsTable(statuses: readonly ReconciliationStatus[]): string {
  const rows = statuses.map((status) => {
    const { board, kind, state, done, total, rate, holder, outcome } = status;
    const { secondsLeft } = reconciliationJson(status);
    const percent = total === 0 ? '-' : `${Math.floor((100 * done) / total)} %`;
    const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`;
    return [
      board,
      kind,
      state === 'running'
        ? `${percent} of ${countText(total)} records, ${countText(rate)}/s${left}`
        : state,
      holder,
      outcome ?? '',
    ];
  });
  return table(['board', 'reconciliation', 'progress', 'by', ''], rows);
}

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

/** What is done to boards beside ingest, and what was not built from the whole log. */
export interface BoardsWork {
  /** Running, or the last one of its board. */
  readonly reconciliations: readonly ReconciliationStatus[];
  /** Boards whose first generation is not live yet. */
  readonly building: readonly string[];
  /** Live boards that lack the beginning of the log. */
  readonly partial: readonly LiveBoard[];
}

/** Cost: some short requests a shard. */
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

/** As `status --json` has it. */
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

/** A paragraph each for what is running or has failed, what waits for its build, and what is partial. */
export function workText({ reconciliations, building, partial }: BoardsWork): string[] {
  const shown = reconciliations.filter(({ state }) => state === 'running' || state === 'failed');
  const worked = new Set(shown.map(({ board }) => board));
  const waiting = building.filter((board) => !worked.has(board));
  return [
    ...(shown.length === 0 ? [] : [reconciliationsTable(shown)]),
    ...(waiting.length === 0
      ? []
      : [
          `not built yet, so nothing of it can be read: ${waiting.join(', ')}; the role reconciliation builds it, or "ranklog boards apply"`,
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

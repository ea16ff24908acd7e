import { count, listOf, objectOf, TEXT } from './checks.js';
import { PERIOD_CLOSED_TYPE } from './cloud-events.js';
import type { RawRecord } from './record.js';
import { ResultContract } from './result-contract.js';
import { LEADER, type Leader } from './result-parts.js';
import { ID, TIME } from './values.js';

/**
 * The announced result of a view whose window has closed: its first players, and how many there
 * are.
 */
export interface PeriodResult {
  board: string;
  /** Id of the build of the board. */
  generation: string;
  /** As in a rank change. */
  view: string;
  /** The window of the view, such as `week:2026-W47`. */
  window: string;
  /** The first moment of the window, in UTC. */
  start: string;
  /** The first moment after the window, in UTC. */
  end: string;
  /** 1 for the first announcement of the view; an operator can have it announced again. */
  revision: number;
  /** How many players the view has. */
  size: number;
  /** The first players in order; fewer than the board asks for if the view has fewer. */
  results: readonly Leader[];
}

const contract = new ResultContract<PeriodResult>(
  PERIOD_CLOSED_TYPE,
  objectOf<PeriodResult>('PeriodResult', {
    board: ID,
    generation: ID,
    view: TEXT,
    window: TEXT,
    start: TIME,
    end: TIME,
    revision: count(1),
    size: count(0),
    results: listOf(LEADER),
  }),
);

/** The id of an announcement, the same each time it is made, so payments can be keyed by it. */
export function periodResultId({ board, view, revision }: PeriodResult): string {
  return `${board}/${view}/${revision}`;
}

/**
 * The record of an announcement: keyed by board and view, with CloudEvents headers. `topic` is the
 * score topic.
 */
export function encodePeriodResult(result: PeriodResult, topic: string) {
  return {
    key: `${result.board} ${result.view}`,
    value: contract.encode(result),
    headers: contract.headers(periodResultId(result), { topic }),
  };
}

/** @throws MalformedRecordError */
export const decodePeriodResult = (record: RawRecord) => contract.decode(record);

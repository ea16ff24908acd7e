// To add a field: add it to the type, its check and the encoder here, and to the class in
// dto/rank-change-dto.ts. Run `npm run api-docs`, and see test/contracts/golden fail. Its value
// comes from src/ingest/result-log.ts (the event), or from
// libs/board-store/lua/includes/verdict.lua and libs/board-store/apply/verdicts.ts (Redis).
// docs/versioning.md says what may change.

import { absentOr, count, listOf, nullOr, objectOf, TEXT } from './checks.js';
import { RANK_CHANGED_TYPE } from './cloud-events.js';
import { causeId, type RawRecord, type Source } from './record.js';
import { ResultContract } from './result-contract.js';
import {
  MOVED_PLAYER,
  RANK_PLACING,
  SOURCE,
  type MovedPlayer,
  type RankPlacing,
} from './result-parts.js';
import { ID, TIME } from './values.js';

/** The change of a player's place in one view. */
export interface RankMovement {
  /** `window( name=value)*`, values percent-encoded: `all`, `week:2026-W47 region=eu`. */
  view: string;
  /** View version: it only grows. */
  version: number;
  /** null for a player who was not in the view. */
  before: RankPlacing | null;
  /** null for a player who left the view: one who is banned or erased. */
  after: RankPlacing | null;
  /**
   * The overtaken players, beginning with the one just behind, up to `overtook` of the board.
   * Absent if there are none.
   */
  overtook?: readonly MovedPlayer[];
}

/**
 * The effect of one score event or player record on its player, in each view that the board
 * reports.
 */
export interface RankChange {
  board: string;
  /** Id of the build of the board. */
  generation: string;
  playerId: string;
  source: Source;
  /** As in the score event, if that has one. */
  eventId?: string;
  /** Event time in UTC. The timestamp of the record if the event has none. */
  occurredAt: string;
  changes: readonly RankMovement[];
}

const MOVEMENT = objectOf<RankMovement>('RankMovement', {
  view: TEXT,
  version: count(1),
  before: nullOr(RANK_PLACING),
  after: nullOr(RANK_PLACING),
  overtook: absentOr(listOf(MOVED_PLAYER)),
});

const contract = new ResultContract<RankChange>(
  RANK_CHANGED_TYPE,
  objectOf<RankChange>('RankChange', {
    board: ID,
    generation: ID,
    playerId: ID,
    source: SOURCE,
    eventId: absentOr(ID),
    occurredAt: TIME,
    changes: listOf(MOVEMENT, 1),
  }),
);

/**
 * The record of a rank change, keyed by player id. `changes` is JSON text. Builds the JSON of the
 * other fields itself: to stringify an object would take twice as long.
 */
export function encodeRankChange(
  change: Omit<RankChange, 'changes' | 'eventId'> & { readonly eventId?: string | undefined },
  changes: string,
) {
  const { board, generation, playerId, source, eventId, occurredAt } = change;
  const { topic, partition, offset } = source;
  const json = JSON.stringify;
  const build = `"board":${json(board)},"generation":${json(generation)}`;
  const player = `"playerId":${json(playerId)}`;
  const cause = `"source":{"topic":${json(topic)},"partition":${partition},"offset":${offset}}`;
  const id = eventId === undefined ? '' : `"eventId":${json(eventId)},`;
  return {
    key: playerId,
    value: `{${build},${player},${cause},${id}"occurredAt":"${occurredAt}","changes":${changes}}`,
    headers: contract.headers(causeId(source), source),
  };
}

/** @throws MalformedRecordError */
export const decodeRankChange = (record: RawRecord) => contract.decode(record);

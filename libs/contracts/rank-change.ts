import type { RankChange } from './classes/rank-change.js';
import { RANK_CHANGED_TYPE } from './cloud-events.js';
import { causeId, type RawRecord } from './record.js';
import { ResultContract } from './result-contract.js';
import { isRankChange } from './validators.generated.js';

export type * from './classes/rank-change.js';

export const rankChangeContract = new ResultContract<RankChange>(isRankChange, RANK_CHANGED_TYPE);

/** The record of a rank change: keyed by player id, with CloudEvents headers and an id from its cause. */
export function encodeRankChange(change: RankChange) {
  const { board, generation, playerId, source, eventId, occurredAt, changes } = change;
  return {
    key: playerId,
    value: JSON.stringify({ board, generation, playerId, source, eventId, occurredAt, changes }),
    headers: rankChangeContract.headers(causeId(source), source),
  };
}

/** @throws MalformedRecordError */
export const decodeRankChange = (record: RawRecord) => rankChangeContract.decode(record);

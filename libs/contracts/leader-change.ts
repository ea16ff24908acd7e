import type { EnteredLeader, LeaderChange } from './classes/leader-change.js';
import type { MovedPlayer } from './classes/result-parts.js';
import { LEADERS_CHANGED_TYPE } from './cloud-events.js';
import { causeId, type RawRecord } from './record.js';
import { ResultContract } from './result-contract.js';
import { isLeaderChange } from './validators.generated.js';

export type * from './classes/leader-change.js';

export const leaderChangeContract = new ResultContract<LeaderChange>(
  isLeaderChange,
  LEADERS_CHANGED_TYPE,
);

/** The record of a leader change: keyed by board and view, with CloudEvents headers and an id from its cause and view. */
export function encodeLeaderChange(change: LeaderChange) {
  const { board, generation, view, version, since, source, occurredAt } = change;
  const { top, entered, left, moved } = change;
  const head = { board, generation, view, version, since, source, occurredAt };
  return {
    key: `${board} ${view}`,
    value: JSON.stringify({ ...head, top, entered, left, moved }),
    headers: leaderChangeContract.headers(`${causeId(source)} ${view}`, source),
  };
}

/** @throws MalformedRecordError */
export const decodeLeaderChange = (record: RawRecord) => leaderChangeContract.decode(record);

/** The difference between two tops: `entered` and `moved` by new rank, `left` by old rank. */
export type LeaderMovements = Pick<LeaderChange, 'entered' | 'left' | 'moved'>;

/** Compares a top (player ids in order) with the next one. Cost: linear in both. */
export function leaderMovements(
  before: readonly string[],
  top: readonly { readonly playerId: string; readonly rank: number }[],
): LeaderMovements {
  const gone = new Map(before.map((playerId, index) => [playerId, index + 1]));
  const entered: EnteredLeader[] = [];
  const moved: MovedPlayer[] = [];
  for (const { playerId, rank } of top) {
    const rankBefore = gone.get(playerId);
    gone.delete(playerId);
    if (rankBefore === undefined) entered.push({ playerId, rank });
    else if (rankBefore !== rank) moved.push({ playerId, rankBefore, rankAfter: rank });
  }
  const left = Array.from(gone, ([playerId, rankBefore]) => ({ playerId, rankBefore }));
  return { entered, left, moved };
}

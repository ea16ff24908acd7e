import { IsCount, IsId } from './decorators.js';
import { MovedPlayer } from './result-parts.js';

/** A player who is in the top N and was not. */
export class EnteredLeader {
  @IsId()
  playerId: string;

  @IsCount(1)
  rank: number;
}

/** A player who was in the top N and is not. */
export class LeftLeader {
  @IsId()
  playerId: string;

  @IsCount(1)
  rankBefore: number;
}

/** The difference between two tops: `entered` and `moved` by the new rank, `left` by the old one. */
export interface LeaderMovements {
  readonly entered: readonly EnteredLeader[];
  readonly left: readonly LeftLeader[];
  readonly moved: readonly MovedPlayer[];
}

/** What happened between a top (player ids in order) and the next one. Cost: linear in both. */
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

import { absentOr, count, objectOf, TEXT } from './checks.js';
import type { Source } from './record.js';
import { COLUMNS, ID } from './values.js';

export const SOURCE = objectOf<Source>('Source', {
  topic: TEXT,
  partition: count(0),
  offset: count(0),
});

/** The place of a player in a view. Columns are decimal strings. */
interface Placing {
  /** From 1; no two players share a rank. */
  rank: number;
  columns: Readonly<Record<string, string>>;
}

/**
 * A place in a rank change. `competitionRank` is the rank that players with equal columns share, if
 * the board publishes it.
 */
export interface RankPlacing extends Placing {
  competitionRank?: number;
}

export const RANK_PLACING = objectOf<RankPlacing>('RankPlacing', {
  rank: count(1),
  columns: COLUMNS,
  competitionRank: absentOr(count(1)),
});

/** A player in the top N of a view. */
export interface Leader extends Placing {
  playerId: string;
  /** The rank that players with equal columns share: 1 2 2 4. */
  competitionRank: number;
}

export const LEADER = objectOf<Leader>('Leader', {
  rank: count(1),
  columns: COLUMNS,
  playerId: ID,
  competitionRank: count(1),
});

/** A player whose rank has changed: one who was overtaken, or one who moved within the top N. */
export interface MovedPlayer {
  playerId: string;
  rankBefore: number;
  rankAfter: number;
}

export const MOVED_PLAYER = objectOf<MovedPlayer>('MovedPlayer', {
  playerId: ID,
  rankBefore: count(1),
  rankAfter: count(1),
});

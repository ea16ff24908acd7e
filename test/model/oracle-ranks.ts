import type { BoardDefinition } from '#board';
import { decimalsOf, reachTimeOf } from './oracle-format.js';
import type { OracleState } from './oracle-update.js';

/** Places in a view, each by looking at all of its players. */

export interface OraclePlacing {
  readonly rank: number;
  readonly competitionRank?: number;
  readonly columns: Readonly<Record<string, string>>;
}
/** Every kind of rank, and the reach time. */
export interface OracleStanding extends OraclePlacing {
  readonly playerId: string;
  readonly competitionRank: number;
  readonly denseRank: number;
  /**
   * How many players have worse columns; `percentile` is their share of the view, in percent, cut
   * to two decimals.
   */
  readonly aheadOf: number;
  readonly percentile: number;
  readonly reachedAt: string;
}
export interface OraclePassed {
  readonly playerId: string;
  readonly rankBefore: number;
  readonly rankAfter: number;
}

export interface Player {
  readonly playerId: string;
  readonly state: OracleState;
}
export type Players = ReadonlyMap<string, OracleState>;

/**
 * Negative if `a` is in front of `b`: by the columns in order, then the reach time as `ties` says,
 * then the bytes of the id.
 */
export function comparePlayers(definition: BoardDefinition, a: Player, b: Player): number {
  return (
    compareColumns(a.state, b.state) ||
    compareReachTimes(definition, a.state, b.state) ||
    Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId))
  );
}

function compareReachTimes({ ties }: BoardDefinition, a: OracleState, b: OracleState): number {
  if (ties === 'none') return 0;
  return (reachTimeOf(a) - reachTimeOf(b)) * (ties === 'earliest' ? 1 : -1);
}

function compareColumns(a: OracleState, b: OracleState): number {
  for (const [index, { value }] of a.entries()) {
    const other = b[index]!.value;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

export function inOrder(definition: BoardDefinition, players: Players): Player[] {
  return [...players]
    .map(([playerId, state]) => ({ playerId, state }))
    .sort((a, b) => comparePlayers(definition, a, b));
}

/** All places of a view, in order. */
export function standingsOf(definition: BoardDefinition, players: Players): OracleStanding[] {
  const ordered = inOrder(definition, players);
  return ordered.map(({ playerId, state }, index) => {
    const ahead = ordered.filter((other) => compareColumns(other.state, state) < 0);
    const behind = ordered.filter((other) => compareColumns(other.state, state) > 0);
    const different = new Set(ahead.map((other) => other.state.map(({ value }) => value).join()));
    return {
      playerId,
      rank: index + 1,
      competitionRank: ahead.length + 1,
      denseRank: different.size + 1,
      aheadOf: behind.length,
      percentile: Number((10_000n * BigInt(behind.length)) / BigInt(ordered.length)) / 100,
      columns: decimalsOf(definition, state),
      reachedAt: new Date(reachTimeOf(state)).toISOString(),
    };
  });
}

/**
 * A player's place among all players in order, as the board publishes it; null for a player who is
 * not in the view.
 */
export function placingOf(
  definition: BoardDefinition,
  ordered: readonly Player[],
  playerId: string,
): OraclePlacing | null {
  const index = ordered.findIndex((player) => player.playerId === playerId);
  const state = ordered[index]?.state;
  if (state === undefined) return null;
  const rank = index + 1;
  const columns = decimalsOf(definition, state);
  if (!definition.publish.ranks.includes('competition')) return { rank, columns };
  const ahead = ordered.filter((other) => compareColumns(other.state, state) < 0);
  return { rank, competitionRank: ahead.length + 1, columns };
}

export function placingIn({ rank, competitionRank, columns }: OracleStanding) {
  return { rank, competitionRank, columns };
}

/** The players that a player has overtaken, beginning with the one just behind. */
export function passedBy(
  playerId: string,
  before: readonly Player[],
  after: readonly Player[],
): OraclePassed[] {
  const rankIn = (ordered: readonly Player[], id: string) => {
    const index = ordered.findIndex((player) => player.playerId === id);
    return index < 0 ? Infinity : index + 1;
  };
  const own = { before: rankIn(before, playerId), after: rankIn(after, playerId) };
  return after
    .map((other, index) => ({
      playerId: other.playerId,
      rankBefore: rankIn(before, other.playerId),
      rankAfter: index + 1,
    }))
    .filter(({ rankBefore, rankAfter }) => rankAfter > own.after && rankBefore < own.before);
}

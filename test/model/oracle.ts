import type { BoardDefinition, ResolvedEvent } from '#board';
import { decimalsOf, memberOf, reachTimeOf, stateText } from './oracle-format.js';
import { updatedState, type OracleState } from './oracle-update.js';

export interface OraclePlacing {
  readonly rank: number;
  readonly competitionRank: number;
  readonly columns: Readonly<Record<string, string>>;
}
export interface OracleChange {
  readonly view: string;
  readonly before: OraclePlacing | null;
  readonly after: OraclePlacing;
}
/** What became of an event: it moved something, it can't be applied, or it changed nothing (undefined). */
export type OracleVerdict =
  | { readonly kind: 'rankChange'; readonly changes: readonly OracleChange[] }
  | { readonly kind: 'deadLetter'; readonly code: 'SUM_OUT_OF_RANGE' }
  | undefined;
export interface OracleStanding extends OraclePlacing {
  readonly playerId: string;
  readonly reachedAt: number;
}
/** What a view is in Redis: the ZSET in its order (member in hex), the hash by player id. */
export interface OracleBytes {
  readonly ranking: readonly { readonly score: string; readonly member: string }[];
  readonly players: Readonly<Record<string, string>>;
}

interface Player {
  readonly playerId: string;
  readonly state: OracleState;
}
type OracleView = Map<string, OracleState>;

/**
 * Leaderboards, plain and slow: a map of states for each view and a full sort for each rank. Written from the design,
 * never from the scripts, so that both are wrong together only if the design is.
 */
export class Oracle {
  readonly #boards: Map<string, { definition: BoardDefinition; views: Map<string, OracleView> }>;

  constructor(definitions: readonly BoardDefinition[]) {
    this.#boards = new Map(
      definitions.map((definition) => [definition.board, { definition, views: new Map() }]),
    );
  }

  /** Applies one event. Events come in the order in which their partitions' records were applied. */
  apply(board: string, event: ResolvedEvent): OracleVerdict {
    const { definition, views } = this.#board(board);
    const updates = event.views.map((view) => {
      const players: OracleView = views.get(view) ?? new Map<string, OracleState>();
      return {
        view,
        players,
        state: updatedState(definition, players.get(event.playerId), event),
      };
    });
    if (updates.some(({ state }) => state === 'outOfRange'))
      return { kind: 'deadLetter', code: 'SUM_OUT_OF_RANGE' };
    const changes = updates.flatMap(({ view, players, state }) => {
      const old = players.get(event.playerId);
      if (state === 'outOfRange' || (old !== undefined && stateText(old) === stateText(state)))
        return [];
      const before = placing(definition, players, event.playerId);
      players.set(event.playerId, state);
      views.set(view, players);
      return [{ view, before, after: placing(definition, players, event.playerId)! }];
    });
    return changes.length === 0 ? undefined : { kind: 'rankChange', changes };
  }

  views(board: string): string[] {
    return [...this.#board(board).views.keys()].sort();
  }

  standings(board: string, view: string): OracleStanding[] {
    const { definition, views } = this.#board(board);
    const players = views.get(view) ?? new Map<string, OracleState>();
    return inOrder(definition, players).map(({ playerId, state }) => ({
      playerId,
      ...placing(definition, players, playerId)!,
      reachedAt: reachTimeOf(state),
    }));
  }

  bytes(board: string, view: string): OracleBytes {
    const { definition, views } = this.#board(board);
    const players = views.get(view) ?? new Map<string, OracleState>();
    return {
      ranking: inOrder(definition, players).map(({ playerId, state }) => ({
        score: String(state[0]!.value),
        member: memberOf(state, definition.ties, playerId).toString('hex'),
      })),
      players: Object.fromEntries(
        [...players].map(([playerId, state]) => [playerId, stateText(state)]),
      ),
    };
  }

  #board(board: string) {
    const found = this.#boards.get(board);
    if (found === undefined) throw new Error(`the oracle has no board ${board}`);
    return found;
  }
}

/** Who is in front: columns in their order, then the reach time as the ties say, then the bytes of the player id. */
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

function inOrder(definition: BoardDefinition, players: OracleView): Player[] {
  return [...players]
    .map(([playerId, state]) => ({ playerId, state }))
    .sort((a, b) => comparePlayers(definition, a, b));
}

function placing(
  definition: BoardDefinition,
  players: OracleView,
  playerId: string,
): OraclePlacing | null {
  const state = players.get(playerId);
  if (state === undefined) return null;
  const ordered = inOrder(definition, players);
  const ahead = ordered.filter((other) => compareColumns(other.state, state) < 0);
  return {
    rank: ordered.findIndex((other) => other.playerId === playerId) + 1,
    competitionRank: ahead.length + 1,
    columns: decimalsOf(definition, state),
  };
}

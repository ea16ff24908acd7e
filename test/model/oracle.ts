import type { BoardDefinition, ResolvedEvent } from '#board';
import { judge } from './oracle-board.js';
import { memberOf, stateBytes } from './oracle-format.js';
import {
  emptyMemory,
  hasExpired,
  type BoardMemory,
  type OracleOutcome,
  type OracleRecord,
} from './oracle-memory.js';
import {
  inOrder,
  placingIn,
  standingsOf,
  type OraclePlacing,
  type OracleStanding,
  type Players,
} from './oracle-ranks.js';
import { join, placedPlayers, settle } from './oracle-players.js';

/*
 * The oracle in parts: oracle-windows (which instance of a window holds a time), oracle-resolve (an
 * event in a board's terms), oracle-update (a player's state), oracle-memory (what is stored),
 * oracle-board (the outcome of an event), oracle-players (bans and erasures), oracle-ranks
 * (places), oracle-format (bytes and texts). Random boards, events and logs come from definitions,
 * inputs and logs.
 */

export interface OracleLeader extends OraclePlacing {
  readonly playerId: string;
  readonly competitionRank: number;
}
/** What a view is in Redis: the ZSET in its order (member in hex), the hash by player id. */
export interface OracleBytes {
  readonly ranking: readonly { readonly score: string; readonly member: string }[];
  readonly players: Readonly<Record<string, string>>;
}

function placeOf({ partition, offset }: OracleRecord): string {
  return `${partition} ${offset}`;
}

/**
 * Leaderboards, plain and slow: a map of states for each view and a full sort for each rank.
 * Written from the documentation, never from the scripts, so that oracle and scripts are wrong
 * together only if the documentation is.
 */
export class Oracle {
  readonly #definitions: ReadonlyMap<string, BoardDefinition>;

  constructor(
    definitions: readonly BoardDefinition[],
    private readonly memories: ReadonlyMap<string, BoardMemory> = new Map(
      definitions.map(({ board }) => [board, emptyMemory()]),
    ),
  ) {
    this.#definitions = new Map(definitions.map((definition) => [definition.board, definition]));
  }

  copy(): this {
    return new Oracle([...this.#definitions.values()], structuredClone(this.memories)) as this;
  }

  /**
   * Applies one event. Events come in the order in which their partitions' records were applied.
   */
  apply(board: string, event: ResolvedEvent, partition = 0): OracleOutcome {
    return judge(this.#definition(board), this.memory(board), event, partition);
  }

  /**
   * Joins a player record; a ranked generation has to settle it then, if it changes the kind of an
   * entry. Returns whether it is unsettled.
   */
  mark(board: string, record: OracleRecord, { ranked = true } = {}): boolean {
    const { unsettled } = this.memory(board);
    const changes = join(this.memory(board), record);
    if (changes && ranked) unsettled.set(placeOf(record), record);
    return unsettled.has(placeOf(record));
  }

  isUnsettled(board: string, record: OracleRecord): boolean {
    return this.memory(board).unsettled.has(placeOf(record));
  }

  /** Settles views for a record; the last ones if `isLast`. */
  settle(board: string, record: OracleRecord, views: Iterable<string>, isLast: boolean) {
    const memory = this.memory(board);
    const outcome = settle(this.#definition(board), memory, record.playerId, views);
    if (isLast) memory.unsettled.delete(placeOf(record));
    return outcome;
  }

  /**
   * Applies a player record to all views at once. It stays unsettled in a ranked generation, as
   * settleAll says.
   */
  join(board: string, record: OracleRecord, { ranked = false } = {}): OracleOutcome {
    this.mark(board, record, { ranked });
    return this.settle(board, record, this.memory(board).views.keys(), false);
  }

  /** Deletes what is left of erased players in a shadow: its ranking does that. */
  forgetErased(board: string): void {
    const { views, register } = this.memory(board);
    for (const { players, placed } of views.values())
      for (const [playerId, { kind }] of register)
        if (kind === 'erased') {
          players.delete(playerId);
          placed.delete(playerId);
        }
  }

  /**
   * Settles the records that a shadow has marked; a generation that was live may have settled a
   * part of one.
   */
  settleAll(board: string): void {
    const memory = this.memory(board);
    for (const { playerId } of memory.unsettled.values())
      settle(this.#definition(board), memory, playerId, memory.views.keys());
    memory.unsettled.clear();
  }

  /** The names of the views that exist, sorted. */
  views(board: string): string[] {
    const memory = this.memory(board);
    return [...memory.views]
      .filter(([, { expiresAt }]) => !hasExpired(memory, expiresAt))
      .map(([view]) => view)
      .sort();
  }

  /** All players of a view in order, with ranks of every kind. */
  standings(board: string, view: string): OracleStanding[] {
    return standingsOf(this.#definition(board), this.#players(board, view));
  }

  /** Whether the board reports leader changes of a view. */
  reportsLeaders(board: string, view: string): boolean {
    const { publish } = this.#definition(board);
    return publish.leaders > 0 && this.memory(board).views.get(view)?.published === true;
  }

  /** The top that leader changes report; empty if the board reports none, or not of this view. */
  leaders(board: string, view: string): OracleLeader[] {
    const { publish } = this.#definition(board);
    if (!this.reportsLeaders(board, view)) return [];
    return this.standings(board, view)
      .slice(0, publish.leaders)
      .map((standing) => ({ playerId: standing.playerId, ...placingIn(standing) }));
  }

  /**
   * The leaders as a text, with values in sort direction and without names of columns. Tops with
   * equal texts count as equal.
   */
  leadersText(board: string, view: string): string {
    const players = inOrder(this.#definition(board), this.#players(board, view));
    const lines = this.leaders(board, view).map(({ playerId, competitionRank }, index) => {
      const values = players[index]!.state.map(({ value }) => BigInt(value));
      return [competitionRank, ...values, playerId].join(' ');
    });
    return lines.join('\n');
  }

  bytes(board: string, view: string): OracleBytes {
    const definition = this.#definition(board);
    const { players = new Map<string, never>() } = this.memory(board).views.get(view) ?? {};
    return {
      ranking: inOrder(definition, this.#players(board, view)).map(({ playerId, state }) => ({
        score: String(state[0]!.value),
        member: memberOf(state, definition.ties, playerId).toString('hex'),
      })),
      players: Object.fromEntries(
        [...players].map(([playerId, state]) => [playerId, stateBytes(state).toString('hex')]),
      ),
    };
  }

  /** Forgets the views that have expired; returns their names. */
  sweep(board: string): string[] {
    const { views } = this.memory(board);
    const standing = new Set(this.views(board));
    const gone = [...views.keys()].filter((view) => !standing.has(view));
    for (const view of gone) views.delete(view);
    return gone;
  }

  memory(board: string): BoardMemory {
    const found = this.memories.get(board);
    if (found === undefined) throw new Error(`the oracle has no board ${board}`);
    return found;
  }

  #definition(board: string): BoardDefinition {
    const found = this.#definitions.get(board);
    if (found === undefined) throw new Error(`the oracle has no board ${board}`);
    return found;
  }

  /** The players in the ranking. */
  #players(board: string, view: string): Players {
    const found = this.memory(board).views.get(view);
    return found === undefined ? new Map<string, never>() : placedPlayers(found);
  }
}

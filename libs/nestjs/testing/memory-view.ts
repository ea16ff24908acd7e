import { reachTime, stateBytes, type BoardDefinition, type PlayerState } from '#board';
import { TIE_SIGNS } from '#board-store';

export interface MemoryPlayer {
  readonly playerId: string;
  readonly state: PlayerState;
}

let version = 0;

/** A version that is larger than all before: readers compare versions. */
export function nextVersion(): number {
  version += 1;
  return version;
}

/**
 * The players of a view in order, for tests.
 * Cost: each method is linear in the players.
 */
export class MemoryView {
  readonly #players: readonly MemoryPlayer[];

  constructor(
    private readonly definition: BoardDefinition,
    players: readonly MemoryPlayer[],
    readonly version: number,
  ) {
    this.#players = [...players].sort((a, b) => this.#compare(a, b));
  }

  get size(): number {
    return this.#players.length;
  }

  player(playerId: string): MemoryPlayer | undefined {
    return this.#players.find((player) => player.playerId === playerId);
  }

  /** The position of a player, from 0; -1 for a player who is not in the view. */
  positionOf(playerId: string): number {
    return this.#players.findIndex((player) => player.playerId === playerId);
  }

  slice(first: number, count: number): readonly MemoryPlayer[] {
    return this.#players.slice(first, first + count);
  }

  matching(pattern: RegExp): readonly MemoryPlayer[] {
    return this.#players.filter(({ playerId }) => pattern.test(playerId));
  }

  /**
   * The first column of the player at a position, in sort direction. A negative position counts
   * from the end.
   */
  firstValueAt(position: number): number {
    return firstValue(this.#players.at(position)?.state);
  }

  /** How many players have a first column up to a value in sort direction. */
  countUpTo(value: number): number {
    return this.#count(({ state }) => firstValue(state) <= value);
  }

  /** How many players have better columns. */
  countBetter(state: PlayerState): number {
    return this.#count((player) => compareColumns(player.state, state) < 0);
  }

  /** How many players have worse columns. */
  countWorse(state: PlayerState): number {
    return this.#count((player) => compareColumns(player.state, state) > 0);
  }

  /** How many different columns players with better columns have. */
  countDifferentBetter(state: PlayerState): number {
    const better = this.#players.filter((player) => compareColumns(player.state, state) < 0);
    return new Set(better.map((player) => player.state.map(({ value }) => value).join())).size;
  }

  /** The number of players in front of a player, plus 1 if that player is in the view. */
  countUpToPlayer(player: MemoryPlayer): number {
    return this.#count((other) => this.#compare(other, player) <= 0);
  }

  #count(isCounted: (player: MemoryPlayer) => boolean): number {
    return this.#players.filter(isCounted).length;
  }

  /** By the columns, the reach time as `ties` of the board says, then the bytes of the id. */
  #compare(a: MemoryPlayer, b: MemoryPlayer): number {
    const byColumns = compareColumns(a.state, b.state);
    if (byColumns !== 0) return byColumns;
    const byTime = TIE_SIGNS[this.definition.ties] * (reachTime(a.state) - reachTime(b.state));
    if (byTime !== 0) return byTime;
    return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
  }
}

function firstValue(state: PlayerState | undefined): number {
  return state?.[0]?.value ?? 0;
}

function compareColumns(a: PlayerState, b: PlayerState): number {
  for (const [index, { value }] of a.entries()) {
    const other = b[index]?.value ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** The states of players, one after the other, as scripts reply them. */
export function statesOf(players: readonly MemoryPlayer[]): Buffer {
  return Buffer.concat(players.map(({ state }) => stateBytes(state)));
}

import { decimalColumns, parseState, reachTime, type BoardDefinition } from '#board';
import type { Placing } from './types.js';

/** A player's place in a view. `reachedAt` is in ms. */
export interface Standing extends Required<Placing> {
  readonly playerId: string;
  /** 1 + the number of different columns that players in front have. Missing if it was not counted. */
  readonly denseRank?: number;
  /** The number of players in the view with worse columns. */
  readonly aheadOf: number;
  /** `aheadOf` in percent of all players of the view, cut (not rounded) to two decimals: 0 for the last player, never 100. */
  readonly percentile: number;
  readonly reachedAt: number;
}

export interface Standings {
  readonly board: string;
  readonly view: string;
  readonly version: number;
  /** Redis lost published events, which are being applied again: ranks may be wrong. */
  readonly stale: boolean;
  readonly size: number;
  readonly entries: readonly Standing[];
}

/** Reads a reply of lua/includes/places.lua, which describes its head. */
export function standingsOf(
  definition: BoardDefinition,
  view: string,
  reply: readonly string[],
): Standings {
  const [stale = 0, version = 0, size = 0, first = 0, better = 0, dense = 0, worse = 0] = reply
    .slice(0, HEAD_LENGTH)
    .map(Number);
  const ties = playersOf(definition, reply.slice(HEAD_LENGTH));
  let position = first;
  const entries = ties.flatMap((players, number) => {
    const begin = position;
    position += players.length;
    const aheadOf = number === ties.length - 1 ? worse : size - position;
    const shared = {
      competitionRank: (number === 0 ? better : begin) + 1,
      ...(reply[DENSE] !== '' && { denseRank: dense + number + 1 }),
      aheadOf,
      percentile: percentile(aheadOf, size),
    };
    return players.map((player, index) => ({ rank: begin + index + 1, ...shared, ...player }));
  });
  return { board: definition.board, view, version, stale: stale === 1, size, entries };
}

const HEAD_LENGTH = 7;
const DENSE = 5;

type Player = Pick<Standing, 'playerId' | 'columns' | 'reachedAt'>;

/** The players of a page, grouped by equal columns. */
function playersOf(definition: BoardDefinition, reply: readonly string[]): Player[][] {
  const ties: Player[][] = [];
  let before: string | undefined;
  for (let index = 0; index < reply.length; index += 2) {
    const state = parseState(reply[index + 1] ?? '');
    const values = state.map(({ value }) => value);
    const player = {
      playerId: reply[index] ?? '',
      columns: decimalColumns(definition, values),
      reachedAt: reachTime(state),
    };
    if (values.join() === before) ties.at(-1)?.push(player);
    else ties.push([player]);
    before = values.join();
  }
  return ties;
}

/** `aheadOf` in percent of `size`, cut to two decimals: exactly, as a view has fewer than 2^32 players. */
function percentile(aheadOf: number, size: number): number {
  return Math.floor((10_000 * aheadOf) / size) / 100;
}

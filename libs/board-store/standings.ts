import { decimalColumns, parseState, reachTime, type BoardDefinition } from '#board';
import type { Placing } from './types.js';

/** A player's place in a view. `reachedAt` is in ms. */
export interface Standing extends Required<Placing> {
  readonly playerId: string;
  /** 1 + the number of different columns in front. Missing if it was not counted. */
  readonly denseRank?: number;
  /** The number of players in the view with worse columns. */
  readonly aheadOf: number;
  /** Their share of the view in percent, cut (not rounded) to two decimals: 0 for the last player, never 100. */
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

/** Reads a reply of lua/includes/places.lua. */
export function standingsOf(
  definition: BoardDefinition,
  view: string,
  reply: readonly string[],
): Standings {
  const [stale = 0, version = 0, size = 0, first = 0, better = 0, dense = 0, worse = 0] = reply
    .slice(0, HEAD_LENGTH)
    .map(Number);
  const head = { size, first, better, worse, ...(reply[DENSE] === '' ? {} : { dense }) };
  const players = playersOf(definition, reply.slice(HEAD_LENGTH));
  const entries = placesOf(head, players);
  return { board: definition.board, view, version, stale: stale === 1, size, entries };
}

const HEAD_LENGTH = 7;
const DENSE = 5;

/** The facts of a page beside its players. Positions count from 0. */
interface Head {
  readonly size: number;
  readonly first: number;
  /** Players with better columns than the first of the page. */
  readonly better: number;
  /** Different columns in front of the first one's. */
  readonly dense?: number;
  /** Players with worse columns than the last of the page. */
  readonly worse: number;
}
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

function placesOf({ size, first, better, dense, worse }: Head, ties: Player[][]): Standing[] {
  let position = first;
  return ties.flatMap((players, number) => {
    const begin = position;
    position += players.length;
    const aheadOf = number === ties.length - 1 ? worse : size - position;
    const shared = {
      competitionRank: (number === 0 ? better : begin) + 1,
      ...(dense === undefined ? {} : { denseRank: dense + number + 1 }),
      aheadOf,
      percentile: percentile(aheadOf, size),
    };
    return players.map((player, index) => ({ rank: begin + index + 1, ...shared, ...player }));
  });
}

/** Exact down to the cut, as a view has fewer than 2^32 players. */
function percentile(aheadOf: number, size: number): number {
  return Math.floor((10_000 * aheadOf) / size) / 100;
}

import {
  decimalColumns,
  decimalText,
  formatDecimal,
  formatTime,
  parseDecimal,
  stateBytes,
  reachTime,
  type BoardDefinition,
  type PlayerState,
} from '#board';
import { rowsOf } from '../lua/scripts.js';
import { cursorAfter, type Bounds } from './view-selection.js';

/** A player's place in a view. Columns are exact decimals, as texts. */
export interface Standing {
  readonly playerId: string;
  readonly rank: number;
  readonly competitionRank: number;
  readonly columns: Readonly<Record<string, string>>;
  /**
   * 1 + the number of different columns that players in front have. Missing if it was not counted.
   */
  readonly denseRank?: number;
  /** The number of players in the view with worse columns. */
  readonly aheadOf: number;
  /**
   * `aheadOf` in percent of all players of the view, cut (not rounded) to two decimals: 0 for the
   * last player, never 100.
   */
  readonly percentile: number;
  /** RFC 3339 */
  readonly reachedAt: string;
}

export interface ViewHead {
  readonly board: string;
  readonly view: string;
  /** Grows with every change of the view; 0 for a view without players. */
  readonly version: number;
  /**
   * Redis lost published events, which are being applied again, or may have lost some: ranks may be
   * wrong.
   */
  readonly stale: boolean;
  /** The number of players in the view. */
  readonly size: number;
}

export interface Standings extends ViewHead {
  readonly entries: readonly Standing[];
  /** The number of players in the range of scores that was asked for. */
  readonly count?: number;
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

export interface Neighbour extends Standing {
  /**
   * By how much the better of the two players is better, per column; negative where it is worse.
   */
  readonly gap: Readonly<Record<string, string>>;
}

/** One player in a view: `standing` is null for a player who is not in it. */
export interface PlayerStanding extends ViewHead {
  readonly playerId: string;
  readonly standing: Standing | null;
  /**
   * The player just in front; null at the top or without a standing. Missing if `gaps` was not
   * asked for.
   */
  readonly above?: Neighbour | null;
  /**
   * The player just behind; null at the end or without a standing. Missing if `gaps` was not asked
   * for.
   */
  readonly below?: Neighbour | null;
}

export interface Selected extends Standing {
  /** Among the players asked for, from 1. */
  readonly position: number;
}

export interface SelectedStandings extends ViewHead {
  readonly entries: readonly Selected[];
  readonly missing: readonly string[];
}

/**
 * Players whose first column is from `min` to `max`, both included. Buckets come from the best one
 * on.
 */
export interface Histogram extends ViewHead {
  readonly buckets: readonly {
    readonly min: string;
    readonly max: string;
    readonly count: number;
  }[];
}

/**
 * Where a score would rank: `rank` is the competition rank, `tied` the number of players with
 * exactly these columns.
 */
export interface RankOfScore extends ViewHead {
  readonly rank: number;
  readonly tied: number;
}

/**
 * The players that a step of a search found. `next` is the cursor of the next step; missing at the
 * end.
 */
export type SearchPage = Omit<Standings, 'count'>;

type Reply = readonly string[];

/** The lines of a reply of lua/includes/places.lua, and the states of the players in it. */
export interface PlacesReply {
  readonly words: Reply;
  readonly states: readonly PlayerState[];
}

/** A page as Redis returned it. `first` is its first position, from 0. */
interface Places {
  readonly definition: BoardDefinition;
  readonly head: ViewHead;
  readonly first: number;
  /** The positions of the players in the range of scores: from this one, to before that one. */
  readonly from: number;
  readonly to: number;
  readonly entries: readonly Standing[];
  readonly lastState: PlayerState;
  readonly bounds?: Bounds | undefined;
}

export function placesOf(definition: BoardDefinition, view: string, reply: PlacesReply): Places {
  const { words, states } = reply;
  const [first = 0, better = 0, dense = 0, worse = 0, from = 0, to = 0] = words
    .slice(3, HEAD_LENGTH)
    .map(Number);
  const head = headOf(definition, view, words);
  let position = first;
  const ties = tiesOf(definition, words.slice(HEAD_LENGTH), states);
  const entries = ties.flatMap((players, number) => {
    const begin = position;
    position += players.length;
    const shared = {
      competitionRank: (number === 0 ? better : begin) + 1,
      ...(words[DENSE] !== '' && { denseRank: dense + number + 1 }),
      ...shareOf(number === ties.length - 1 ? worse : head.size - position, head.size),
    };
    return players.map((player, index) => ({ rank: begin + index + 1, ...shared, ...player }));
  });
  return { definition, head, first, from, to, entries, lastState: states.at(-1) ?? [] };
}

const HEAD_LENGTH = 9;
const DENSE = 5;

/**
 * A page with the cursor of the next one, and with the number of players in the range if scores
 * were asked for.
 */
export function standingsOf(page: Places): Standings {
  const { definition, head, first, from, to, entries, lastState, bounds = ['', ''] } = page;
  const last = entries.at(-1);
  const state = stateBytes(lastState);
  const end = last && { view: head.view, state, playerId: last.playerId, bounds };
  const isEnd = first + entries.length >= to;
  return {
    ...head,
    ...(bounds.join('') !== '' && { count: to - from }),
    entries,
    ...(end && !isEnd && { next: cursorAfter(definition, end) }),
  };
}

export function playerStandingOf(
  { definition, head, entries }: Places,
  { playerId, gaps }: { readonly playerId: string; readonly gaps: boolean },
): PlayerStanding {
  const index = entries.findIndex((entry) => entry.playerId === playerId);
  const standing = entries[index] ?? null;
  if (!gaps) return { ...head, playerId, standing };
  const [above, below] = [entries[index - 1], entries[index + 1]];
  return {
    ...head,
    playerId,
    standing,
    above: standing && above ? { ...above, gap: gapOf(definition, above, standing) } : null,
    below: standing && below ? { ...below, gap: gapOf(definition, standing, below) } : null,
  };
}

/** Reads a reply of lua/commands/histogram-10.lua. */
export function histogramOf(definition: BoardDefinition, view: string, reply: Reply): Histogram {
  const [column] = definition.columns;
  const buckets = rowsOf(reply.slice(3), 3).map(([best, worst, count]) => {
    const texts = [best, worst].map((value) =>
      column === undefined ? '' : decimalText(column, Number(value)),
    );
    const [min = '', max = ''] = column?.order === 'desc' ? texts.reverse() : texts;
    return { min, max, count: Number(count) };
  });
  return { ...headOf(definition, view, reply), buckets };
}

/** Reads a reply of lua/includes/players.lua; entries are in order. */
export function playersOf(definition: BoardDefinition, view: string, reply: PlacesReply) {
  const { words, states } = reply;
  const head = headOf(definition, view, words);
  const entries = rowsOf(words.slice(3), 4).map(
    ([playerId = '', position, better, worse], index): Standing => ({
      rank: Number(position) + 1,
      competitionRank: Number(better) + 1,
      ...shareOf(Number(worse), head.size),
      ...playerOf(definition, playerId, states[index] ?? []),
    }),
  );
  return { ...head, entries: entries.sort((a, b) => a.rank - b.rank) };
}

export function headOf(
  { board }: BoardDefinition,
  view: string,
  [stale, version, size]: Reply,
): ViewHead {
  return { board, view, version: Number(version), stale: Number(stale) === 1, size: Number(size) };
}

/**
 * How much better one player is than another, per column. A difference can exceed 2^53, hence
 * BigInt.
 */
export function gapOf(
  { columns }: BoardDefinition,
  better: Standing,
  worse: Standing,
): Record<string, string> {
  const minor = ({ columns: values }: Standing, name: string, decimals: number) => {
    const parsed = parseDecimal(values[name] ?? '', decimals);
    return BigInt(parsed.ok ? parsed.minor : 0);
  };
  return Object.fromEntries(
    columns.map(({ name, decimals, order }) => {
      const more = minor(better, name, decimals) - minor(worse, name, decimals);
      return [name, formatDecimal(order === 'desc' ? more : -more, decimals)];
    }),
  );
}

type Player = Pick<Standing, 'playerId' | 'columns' | 'reachedAt'>;

/** The players of a page, grouped by equal columns. */
function tiesOf(
  definition: BoardDefinition,
  playerIds: readonly string[],
  states: readonly PlayerState[],
): Player[][] {
  const ties: Player[][] = [];
  let before: PlayerState = [];
  for (const [index, state] of states.entries()) {
    const isTied = before.length > 0 && before.every(({ value }, at) => value === state[at]?.value);
    const player = playerOf(definition, playerIds[index] ?? '', state);
    if (isTied) ties.at(-1)?.push(player);
    else ties.push([player]);
    before = state;
  }
  return ties;
}

function playerOf(definition: BoardDefinition, playerId: string, state: PlayerState): Player {
  const values = state.map(({ value }) => value);
  const columns = decimalColumns(definition, values);
  return { playerId, columns, reachedAt: formatTime(reachTime(state)) };
}

/** The percentile is exact, as a view has fewer than 2^32 players. */
function shareOf(aheadOf: number, size: number): Pick<Standing, 'aheadOf' | 'percentile'> {
  return { aheadOf, percentile: Math.floor((10_000 * aheadOf) / size) / 100 };
}

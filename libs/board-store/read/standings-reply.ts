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
  /** 1 + how many different columns the players in front have. Missing if it was not counted. */
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
  /** Whether ranks may be wrong: Redis lost events, or may have, until they are applied again. */
  readonly stale: boolean;
  /** The number of players in the view. */
  readonly size: number;
}

export interface Standings extends ViewHead {
  readonly entries: readonly Standing[];
  /** The number of players in the range of scores; missing if the request had no range. */
  readonly count?: number;
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

export interface Neighbour extends Standing {
  /** Per column, how far the player with the better rank leads; negative if the other one leads. */
  readonly gap: Readonly<Record<string, string>>;
}

/** One player in a view. */
export interface PlayerStanding extends ViewHead {
  readonly playerId: string;
  /** null if the player is not in the view. */
  readonly standing: Standing | null;
  /** With `gaps`: the player just in front; null at the top or without a standing. */
  readonly above?: Neighbour | null;
  /** With `gaps`: the player just behind; null at the end or without a standing. */
  readonly below?: Neighbour | null;
}

export interface Selected extends Standing {
  /** The place among the requested players, from 1. */
  readonly position: number;
}

export interface SelectedStandings extends ViewHead {
  readonly entries: readonly Selected[];
  /** The requested players who are not in the view. */
  readonly missing: readonly string[];
}

/** The best bucket comes first. */
export interface Histogram extends ViewHead {
  /** `count` players have a first column from `min` to `max`, both included. */
  readonly buckets: readonly {
    readonly min: string;
    readonly max: string;
    readonly count: number;
  }[];
}

/** The place that a score would have. */
export interface RankOfScore extends ViewHead {
  /** The competition rank. */
  readonly rank: number;
  /** The number of players with exactly these columns. */
  readonly tied: number;
}

/** The players that a step of a search found. `next` is the cursor of the next step, if any. */
export type SearchPage = Omit<Standings, 'count'>;

type Reply = readonly string[];

/** The lines of a reply of lua/includes/places.lua, and the states of the players in it. */
export interface PlacesReply {
  readonly words: Reply;
  readonly states: readonly PlayerState[];
}

/**
 * A page as Redis returned it. `first` is the position of its first player. Positions begin at 0.
 */
interface Places {
  readonly definition: BoardDefinition;
  readonly head: ViewHead;
  readonly first: number;
  /** The first position in the range of scores. */
  readonly from: number;
  /** The first position behind the range of scores. */
  readonly to: number;
  readonly entries: readonly Standing[];
  readonly lastState: PlayerState;
  readonly bounds?: Bounds | undefined;
}

/** How many words of a reply make its ViewHead. */
const HEAD_LENGTH = 3;

/** Positions in the words of a reply of `places` in lua/includes/places.lua. */
const DENSE = 5;
const FIRST_ID = 9;

const NO_BOUNDS: Bounds = ['', ''];

/** Reads a reply of `places` in lua/includes/places.lua. */
export function placesOf(definition: BoardDefinition, view: string, reply: PlacesReply): Places {
  const { words, states } = reply;
  const head = headOf(definition, view, words);
  const numbers = words.slice(HEAD_LENGTH, FIRST_ID).map(Number);
  const [first = 0, better = 0, dense = 0, worse = 0, from = 0, to = 0] = numbers;
  const hasDenseRanks = words[DENSE] !== '';
  const ties = tiesOf(definition, words.slice(FIRST_ID), states);

  const entries: Standing[] = [];
  let position = first;
  for (const [index, players] of ties.entries()) {
    // The page may begin or end within a tie.
    const isFirst = index === 0;
    const isLast = index === ties.length - 1;
    const behind = position + players.length;
    const competitionRank = (isFirst ? better : position) + 1;
    const share = shareOf(isLast ? worse : head.size - behind, head.size);
    for (const player of players) {
      entries.push({
        rank: position + 1,
        competitionRank,
        ...(hasDenseRanks && { denseRank: dense + index + 1 }),
        ...share,
        ...player,
      });
      position += 1;
    }
  }
  return { definition, head, first, from, to, entries, lastState: states.at(-1) ?? [] };
}

/**
 * A page with the cursor of the next page and, if the request had a range of scores, with the
 * number of players in this range.
 */
export function standingsOf(page: Places): Standings {
  const { head, first, from, to, entries, bounds = NO_BOUNDS } = page;
  const hasRange = bounds.some((bound) => bound !== '');
  const hasMore = first + entries.length < to;
  const last = entries.at(-1);
  const next = last !== undefined && hasMore ? nextCursor(page, last.playerId) : undefined;
  return {
    ...head,
    ...(hasRange && { count: to - from }),
    entries,
    ...(next !== undefined && { next }),
  };
}

function nextCursor({ definition, head, lastState, bounds = NO_BOUNDS }: Places, playerId: string) {
  const state = stateBytes(lastState);
  return cursorAfter(definition, { view: head.view, state, playerId, bounds });
}

export function playerStandingOf(
  { definition, head, entries }: Places,
  { playerId, gaps }: { readonly playerId: string; readonly gaps: boolean },
): PlayerStanding {
  const index = entries.findIndex((entry) => entry.playerId === playerId);
  const standing = entries[index] ?? null;
  if (!gaps) return { ...head, playerId, standing };

  const above = entries[index - 1];
  const below = entries[index + 1];
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
  const textOf = (value: string | undefined) =>
    column === undefined ? '' : decimalText(column, Number(value));
  const buckets = rowsOf(reply.slice(HEAD_LENGTH), 3).map(([bestValue, worstValue, countText]) => {
    const best = textOf(bestValue);
    const worst = textOf(worstValue);
    const count = Number(countText);
    return column?.order === 'desc'
      ? { min: worst, max: best, count }
      : { min: best, max: worst, count };
  });
  return { ...headOf(definition, view, reply), buckets };
}

/** Reads a reply of lua/includes/players.lua. Sorts the entries by rank. */
export function playersOf(definition: BoardDefinition, view: string, reply: PlacesReply) {
  const { words, states } = reply;
  const head = headOf(definition, view, words);
  const entries = rowsOf(words.slice(HEAD_LENGTH), 4).map(
    ([playerId = '', position, better, worse], index): Standing => ({
      rank: Number(position) + 1,
      competitionRank: Number(better) + 1,
      ...shareOf(Number(worse), head.size),
      ...playerOf(definition, playerId, states[index] ?? []),
    }),
  );
  return { ...head, entries: entries.sort((a, b) => a.rank - b.rank) };
}

function headOf({ board }: BoardDefinition, view: string, [stale, version, size]: Reply): ViewHead {
  return {
    board,
    view,
    version: Number(version),
    stale: Number(stale) === 1,
    size: Number(size),
  };
}

/** Per column, how much better one player is than another. A difference can exceed 2^53. */
function gapOf(
  { columns }: BoardDefinition,
  better: Standing,
  worse: Standing,
): Record<string, string> {
  const gaps = columns.map(({ name, decimals, order }) => {
    const more = minorUnits(better, name, decimals) - minorUnits(worse, name, decimals);
    return [name, formatDecimal(order === 'desc' ? more : -more, decimals)];
  });
  return Object.fromEntries(gaps) as Record<string, string>;
}

function minorUnits({ columns }: Standing, name: string, decimals: number): bigint {
  const parsed = parseDecimal(columns[name] ?? '', decimals);
  return BigInt(parsed.ok ? parsed.minor : 0);
}

type Player = Pick<Standing, 'playerId' | 'columns' | 'reachedAt'>;

/** The players of a page, grouped by equal columns. */
function tiesOf(
  definition: BoardDefinition,
  playerIds: readonly string[],
  states: readonly PlayerState[],
): Player[][] {
  const ties: Player[][] = [];
  let tie: Player[] = [];
  let stateBefore: PlayerState = [];
  for (const [index, state] of states.entries()) {
    const player = playerOf(definition, playerIds[index] ?? '', state);
    if (hasEqualColumns(stateBefore, state)) {
      tie.push(player);
    } else {
      tie = [player];
      ties.push(tie);
    }
    stateBefore = state;
  }
  return ties;
}

function hasEqualColumns(a: PlayerState, b: PlayerState): boolean {
  return a.length === b.length && a.every(({ value }, column) => value === b[column]?.value);
}

function playerOf(definition: BoardDefinition, playerId: string, state: PlayerState): Player {
  const values = state.map(({ value }) => value);
  const columns = decimalColumns(definition, values);
  return { playerId, columns, reachedAt: formatTime(reachTime(state)) };
}

/** The percentile is exact, as a view has fewer than 2^32 players. */
function shareOf(aheadOf: number, size: number): Pick<Standing, 'aheadOf' | 'percentile'> {
  const percentile = Math.floor((10_000 * aheadOf) / size) / 100;
  return { aheadOf, percentile };
}

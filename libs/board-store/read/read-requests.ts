import { parseDecimal, sortDirection, type BoardDefinition, type Column } from '#board';
import { isId } from '#contracts';
import { InvalidReadError } from '../layout/store-errors.js';
import {
  requireText,
  shown,
  type Anchor,
  type Bounds,
  type ViewSelection,
} from './view-selection.js';

/** The most players that one read returns, or that one read can name by id. */
export const MOST_PLAYERS = 1_000;

/** The most views that one read of a player covers. */
export const MOST_REQUESTS = 100;

/**
 * The most players that Redis reads to count the dense ranks of one read. All views of the read
 * share this number. Reading so many takes Redis 10 ms.
 */
export const MOST_COUNTED = 10_000;

/** A decimal; only a text is exact. */
export type Decimal = string | number;

/** Players whose first column is in this range, bounds included. */
export interface ScoreRange {
  readonly min?: Decimal | undefined;
  readonly max?: Decimal | undefined;
}

export interface DenseOption {
  /**
   * Whether to count dense ranks (1 2 2 3). A page from the top of the view always has them. For
   * any other read, Redis reads up to 10,000 players in front, which takes 10 ms. That is enough
   * for the first 5,000 ranks, and for later ranks if enough players are tied. The requests of one
   * `playerOn` share the 10,000 players evenly.
   */
  readonly dense?: boolean | undefined;
}

export interface CountRequest extends ViewSelection {
  readonly scores?: ScoreRange | undefined;
}

export interface PageRequest extends CountRequest, DenseOption {
  /** How many players, at most 1,000; by default 100. */
  readonly limit?: number | undefined;
  /** The rank of the first player, by default 1; with `scores`, among the players in the range. */
  readonly from?: number | undefined;
  /** The cursor `next` of another page: continues in its view. Excludes `from`. */
  readonly after?: string | undefined;
}

export interface PlaceRequest extends ViewSelection, DenseOption {}

export interface PlayerRequest extends PlaceRequest {
  /**
   * Whether to add the players just in front and just behind, with the gap to each in every column.
   */
  readonly gaps?: boolean | undefined;
}

export interface AroundRequest extends PlaceRequest {
  /** How many players in front of the player; by default 5. */
  readonly above?: number | undefined;
  /** How many players behind the player; by default 5. */
  readonly below?: number | undefined;
}

/**
 * A rank, or the share of the best players in percent: above 0, at most 100, up to four decimals.
 */
export type RankOrShare = { readonly rank: number } | { readonly percent: number };

/** By default, `scores` range from the worst player's score to the best player's. */
export interface HistogramRequest extends CountRequest {
  /** The most buckets, by default 20, at most 1,000. The last one may be narrower. */
  readonly buckets?: number | undefined;
}

export interface SearchRequest extends ViewSelection {
  /** The cursor `next` of the previous step: continues in its view. */
  readonly after?: string | undefined;
}

/**
 * Returns a whole number within bounds.
 * @throws InvalidReadError
 */
export function whole(argument: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidReadError(
    argument,
    `${shown(value)} is not a whole number from ${min} to ${max}`,
  );
}

/** @throws InvalidReadError for an id that no score event can have */
export function requirePlayerId(playerId: string): void {
  if (isId(playerId)) return;
  const problem =
    `${shown(playerId)} is no id: 1 to 128 bytes of UTF-8 without control characters or lone ` +
    'surrogates';
  throw new InvalidReadError('player', problem);
}

/** @throws InvalidReadError */
export function anchorAt(place: RankOrShare): Anchor {
  if ('rank' in place) {
    const rank = whole('rank', place.rank, 1, Number.MAX_SAFE_INTEGER);
    return ['position', rank - 1];
  }

  const { percent } = place;
  const millionths = Math.round(percent * 10_000);
  if (typeof percent === 'number' && percent <= 100 && millionths >= 1)
    return ['share', millionths];
  throw new InvalidReadError('percent', `${shown(percent)} is not from 0.0001 to 100`);
}

/**
 * The best and the worst value of a range in sort direction; '' for no bound.
 * @throws InvalidReadError
 */
export function boundsOf(definition: BoardDefinition, { min, max }: ScoreRange = {}): Bounds {
  const [column] = definition.columns;
  if (column === undefined) throw new Error(`board ${definition.board} has no column`);

  const low = min === undefined ? undefined : valueIn(column, min);
  const high = max === undefined ? undefined : valueIn(column, max);
  const isDescending = column.order === 'desc';
  const best = isDescending ? high : low;
  const worst = isDescending ? low : high;
  if (best !== undefined && worst !== undefined && best > worst)
    throw new InvalidReadError('scores', `min ${min} is above max ${max}`);

  return [String(best ?? ''), String(worst ?? '')];
}

/**
 * A score in sort direction, column by column.
 * @throws InvalidReadError
 */
export function valuesOf(
  { board, columns }: BoardDefinition,
  score: Decimal | Readonly<Record<string, Decimal>>,
): number[] {
  const given = typeof score === 'object' ? score : { [columns[0]?.name ?? '']: score };
  const names = columns.map(({ name }) => name);
  const isComplete = names.every((name) => Object.hasOwn(given, name));
  if (!isComplete || Object.keys(given).length > names.length)
    throw new InvalidReadError(
      'score',
      `needs a value for each column of board "${board}": ${names.join(', ')}`,
    );

  return columns.map((column) => valueIn(column, given[column.name] ?? ''));
}

function valueIn(column: Column, given: Decimal): number {
  const parsed = parseDecimal(String(given), column.decimals);
  if (parsed.ok) return sortDirection(column, parsed.minor);

  const text = JSON.stringify(String(given).slice(0, 80));
  const problem =
    `${text} is not a decimal with at most ${column.decimals} decimals, within +-(2^53-1) ` +
    'minor units';
  throw new InvalidReadError(`column "${column.name}"`, problem);
}

/**
 * A pattern of Redis for ids that contain a text. ASCII letters match in upper and lower case.
 * @throws InvalidReadError
 */
export function patternOf(text: string): string {
  requireText('text', text);
  if (text === '') throw new InvalidReadError('text', 'is empty; give a part of a player id');

  const escaped = text.replaceAll(/[*?[\]\\^-]/g, (special) => `\\${special}`);
  const inBothCases = escaped.replaceAll(
    /[a-z]/gi,
    (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`,
  );
  return `*${inBothCases}*`;
}

/** What a board is. Everything here is plain data: a definition is the same text in a file, in Redis and in Kafka. */

/** How a column takes in the value of an event: added up, the best one kept, or the one with the latest `occurredAt`. */
export const UPDATES = ['sum', 'best', 'latest'] as const;
export type Update = (typeof UPDATES)[number];

/** Which end of a column is in front: the largest value (`desc`) or the smallest (`asc`). */
export const ORDERS = ['desc', 'asc'] as const;
export type Order = (typeof ORDERS)[number];

/** Which reach time is in front when all columns are equal: the earliest, the latest, or none, so that only the player id counts. */
export const TIES = ['earliest', 'latest', 'none'] as const;
export type Ties = (typeof TIES)[number];

/** What becomes of an event all of whose views have expired. */
export const LATE = ['deadLetter', 'count'] as const;
export type Late = (typeof LATE)[number];

/** Which changes of a player are published: each, only those of a rank, or none. */
export const RANK_CHANGES = ['every', 'moved', 'none'] as const;
export type RankChanges = (typeof RANK_CHANGES)[number];

/** Ranks that a rank change may carry: the position (1 2 3 4), and the rank over equal columns (1 2 2 4). */
export const RANKS = ['ordinal', 'competition'] as const;

/** Windows that the calendar of the board's time zone gives. */
export const CALENDAR_WINDOWS = ['day', 'week', 'month', 'year'] as const;
export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number];

/** One number that is compared. `decimals` digits after the point, 0 to 15; held as an integer of minor units. */
export interface Column {
  readonly name: string;
  readonly update: Update;
  readonly order: Order;
  readonly decimals: number;
  /** Bounds of what one event may bring, in minor units. */
  readonly min?: number;
  readonly max?: number;
  /** Weights by input: the column gains the weighted sum of these deltas. */
  readonly from?: Readonly<Record<string, number>>;
}

/** Spans of event time that a board ranks separately. Times are ms since 1970; instances contain `from`, not `to`. */
export type Window =
  | { readonly kind: 'all' }
  | ({ readonly kind: CalendarWindow } & Kept)
  | ({
      readonly kind: 'season';
      readonly name: string;
      readonly from: number;
      readonly to: number;
    } & Kept)
  | ({
      readonly kind: 'interval';
      readonly name: string;
      readonly cron: string;
      readonly start: number;
    } & Kept);

interface Kept {
  /** How long after its end a view is kept, in ms of the board's event clock; undefined: for ever. */
  readonly keepMs?: number;
}

/** What of a board is published. */
export interface Publish {
  readonly rankChanges: RankChanges;
  readonly ranks: readonly (typeof RANKS)[number][];
  /** Names of windows (see windowName); undefined: all. */
  readonly windows?: readonly string[];
  /** Combinations; undefined: all. */
  readonly dimensions?: readonly (readonly string[])[];
  /** How many of the passed players a rank change names. */
  readonly overtook: number;
  /** How many places from the top leader changes tell of; 0: none. */
  readonly leaders: number;
}

/** A board with every default filled in. `dimensions` holds attribute names per combination; `[]` is the overall ranking. */
export interface BoardDefinition {
  readonly board: string;
  readonly columns: readonly Column[];
  readonly ties: Ties;
  /** IANA name; its clock gives the calendar windows. */
  readonly timeZone: string;
  readonly windows: readonly Window[];
  readonly late: Late;
  readonly dimensions: readonly (readonly string[])[];
  /** Most views that may exist at a time. */
  readonly maxViews: number;
  /** How far `occurredAt` may lie after the record's own timestamp, in ms. */
  readonly maxAheadMs: number;
  /** The latest time that an event may have, in ms; undefined: any. */
  readonly notAfter?: number;
  /** Span of event time within which an event id counts once, in ms. */
  readonly deduplicateMs?: number;
  readonly publish: Publish;
}

/** The name of a window within its board: `week`, `season:spring-2026`, `interval:contest`. */
export function windowName(window: Window): string {
  return 'name' in window ? `${window.kind}:${window.name}` : window.kind;
}

/** Whether any view of the board ever expires. */
export function canExpire({ windows }: Pick<BoardDefinition, 'windows'>): boolean {
  return windows.some((window) => window.kind !== 'all' && window.keepMs !== undefined);
}

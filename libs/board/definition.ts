// To add a kind of window, an update or a tie rule: begin with the oracle in test/model
// (oracle-windows.ts, oracle-update.ts) and its generators, and see the model test fail. Then
// extend this file, schemas/boards.schema.json, windows.ts, and the Lua that changes states or
// ranks. The result must not depend on how partitions interleave.

/**
 * How a column combines the values of events: adds them, keeps the best, or keeps the one with the
 * latest `occurredAt`.
 */
export type Update = 'sum' | 'best' | 'latest';
export const UPDATES: readonly Update[] = ['sum', 'best', 'latest'];

/** Which values of a column rank first: large ones (`desc`) or small ones (`asc`). */
export type Order = 'desc' | 'asc';
export const ORDERS: readonly Order[] = ['desc', 'asc'];

/** Which reach time ranks first when all columns are equal. With `none`, the player id decides. */
export type Ties = 'earliest' | 'latest' | 'none';
export const TIES: readonly Ties[] = ['earliest', 'latest', 'none'];

/** What happens to an event whose views have all expired or closed. */
export type Late = 'deadLetter' | 'count';
export const LATE: readonly Late[] = ['deadLetter', 'count'];

/** Which changes of a player are published: all, only changes of a rank, or none. */
export type PublishedChanges = 'every' | 'moved' | 'none';
export const RANK_CHANGES: readonly PublishedChanges[] = ['every', 'moved', 'none'];

/**
 * Ranks in a rank change: the position (1 2 3 4), and the rank that players with equal columns
 * share (1 2 2 4).
 */
export type RankKind = 'ordinal' | 'competition';
export const RANKS: readonly RankKind[] = ['ordinal', 'competition'];

/** Windows of the calendar, in the board's time zone. */
export type CalendarWindow = 'day' | 'week' | 'month' | 'year';
export const CALENDAR_WINDOWS: readonly CalendarWindow[] = ['day', 'week', 'month', 'year'];

/**
 * A number by which players are compared. It is stored in minor units: the value times
 * 10^`decimals` (0 to 15), an integer.
 */
export interface Column {
  readonly name: string;
  readonly update: Update;
  readonly order: Order;
  readonly decimals: number;
  /** Bounds of the value of one event (with `from`: of its weighted sum), in minor units. */
  readonly min?: number;
  readonly max?: number;
  /** Weights by input: an event adds the weighted sum of its deltas for these inputs. */
  readonly from?: Readonly<Record<string, number>>;
}

/** How instances of a window close: then no record changes them, and the result is announced. */
export interface Close {
  /** Instances that end before this time (ms) never close. */
  readonly from: number;
  /** A record counts in an instance up to this many ms after its end, by the record's timestamp. */
  readonly graceMs: number;
  /** How long after the grace the result is announced, in ms; `manual`: a command does it. */
  readonly reviewMs: number | 'manual';
  /** The N of the top N that an announcement has. */
  readonly results: number;
}

interface Ending {
  /**
   * How long a view exists after the end of its window, in ms of the board's event clock;
   * undefined: for ever.
   */
  readonly keepMs?: number;
  /** undefined: instances never close. */
  readonly close?: Close;
}

export interface Season extends Ending {
  readonly kind: 'season';
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface Interval extends Ending {
  readonly kind: 'interval';
  readonly name: string;
  readonly cron: string;
  readonly start: number;
}

/**
 * A span of event time that a board ranks separately. Times are ms since 1970; instances contain
 * their start, not their end.
 */
export type Window =
  { readonly kind: 'all' } | ({ readonly kind: CalendarWindow } & Ending) | Season | Interval;

/**
 * The place of a record in the score topic. If the topic was recreated, the timestamp (ms) tells
 * the old record at this offset from the new one.
 */
export interface RecordPlace {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

export interface Publish {
  readonly rankChanges: PublishedChanges;
  readonly ranks: readonly RankKind[];
  /** Names of windows (see windowName); undefined: all. */
  readonly windows?: readonly string[];
  /** undefined: all. */
  readonly dimensions?: readonly (readonly string[])[];
  /** How many overtaken players a rank change names at most. */
  readonly overtook: number;
  /** The N of the top N that leader changes report; 0: no leader changes. */
  readonly leaders: number;
}

/**
 * A board with all defaults filled in. Files, Redis and Kafka have it as text (definition-text.ts).
 */
export interface BoardDefinition {
  readonly board: string;
  readonly columns: readonly Column[];
  readonly ties: Ties;
  /** IANA name. Its clock decides where calendar windows and intervals begin. */
  readonly timeZone: string;
  readonly windows: readonly Window[];
  readonly late: Late;
  /** Lists of attribute names; `[]` is the overall ranking. */
  readonly dimensions: readonly (readonly string[])[];
  /** How many views can exist at a time. */
  readonly maxViews: number;
  /** How far `occurredAt` can be after the record's own timestamp, in ms. */
  readonly maxAheadMs: number;
  /** The latest time of an event, in ms; undefined: any. */
  readonly notAfter?: number;
  /** The span of event time within which an event id counts once, in ms. */
  readonly deduplicateMs?: number;
  readonly publish: Publish;
  /**
   * Records whose score events change no view, in order; undefined: none. Not a field of boards
   * files: a live definition gets it from `ranklog scores`, and passes it on to the next one.
   */
  readonly voids?: readonly RecordPlace[] | undefined;
}

/** The name of a window within its board: `week`, `season:spring-2026`, `interval:contest`. */
export function windowName(window: Window): string {
  return 'name' in window ? `${window.kind}:${window.name}` : window.kind;
}

/** How long an instance of a window exists after its end, in ms; undefined: for ever. */
export function keepOf(window: Window): number | undefined {
  return window.kind === 'all' ? undefined : window.keepMs;
}

/** How the instances of a window close; undefined: they never close. */
export function closeOf(window: Window): Close | undefined {
  return window.kind === 'all' ? undefined : window.close;
}

export function canClose({ windows }: Pick<BoardDefinition, 'windows'>): boolean {
  return windows.some((window) => closeOf(window) !== undefined);
}

export function canExpire({ windows }: Pick<BoardDefinition, 'windows'>): boolean {
  return windows.some((window) => keepOf(window) !== undefined);
}

/** Caches what `derive` computes from a definition, for as long as the definition is in memory. */
export function derived<T>(derive: (definition: BoardDefinition) => T) {
  const cache = new WeakMap<BoardDefinition, T>();
  return (definition: BoardDefinition): T => {
    let value = cache.get(definition);
    if (value === undefined) {
      value = derive(definition);
      cache.set(definition, value);
    }
    return value;
  };
}

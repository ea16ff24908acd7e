/** What a board is. Everything here is plain data: a definition is the same text in a file, in Redis and in Kafka. */

/** How a column takes in the value of an event: added up, the best one kept, or the one with the latest `occurredAt`. */
export const UPDATES = ['sum', 'best', 'latest'] as const;
export type Update = (typeof UPDATES)[number];

/** Which end of a column is in front: the largest value (`desc`) or the smallest (`asc`). */
export const ORDERS = ['desc', 'asc'] as const;
export type Order = (typeof ORDERS)[number];

/** Who is in front when all columns are equal: who reached them first, who did last, or only the player id counts. */
export const TIES = ['earliest', 'latest', 'none'] as const;
export type Ties = (typeof TIES)[number];

/** Spans of event time that a board ranks separately. The other windows of the design come with their own change. */
export const WINDOWS = ['all'] as const;
export type Window = (typeof WINDOWS)[number];

/** One number that is compared. `decimals` digits after the point, 0 to 15; held as an integer of minor units. */
export interface Column {
  readonly name: string;
  readonly update: Update;
  readonly order: Order;
  readonly decimals: number;
}

/** A board with every default filled in. `dimensions` holds attribute names per combination; `[]` is the overall ranking. */
export interface BoardDefinition {
  readonly board: string;
  readonly columns: readonly Column[];
  readonly ties: Ties;
  readonly windows: readonly Window[];
  readonly dimensions: readonly (readonly string[])[];
  /** How far `occurredAt` may lie after the record's own timestamp, in ms. */
  readonly maxAheadMs: number;
}

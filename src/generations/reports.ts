import type { Difference, Starts, TooManyViews } from '#board-store';

/** A board whose generation went live. */
export interface PromotionReport {
  readonly board: string;
  readonly generation: string;
  /** The generation that was live before; missing for the first. */
  readonly previous?: string;
  /** When it went live, in us of the server's clock. */
  readonly since: number;
}

export interface BuildReport extends PromotionReport {
  /** Present where the generation lacks the beginning of the log. */
  readonly starts?: Starts;
  /** Records of the log from where the generation begins. */
  readonly records: number;
  readonly seconds: number;
}

export interface VerifyReport {
  readonly board: string;
  readonly generation: string;
  /** What was compared: places of players in views that the log makes. */
  readonly places: number;
  readonly views: number;
  /** Some of them; `differenceCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** null where the board can't be compared. */
  readonly equal: boolean | null;
  /** Why it can't: events were refused for `maxViews`. */
  readonly tooManyViews?: TooManyViews;
  /** By partition, the offset up to which all was compared at least. */
  readonly appliedOffsets: Readonly<Record<string, number>>;
}

export interface SnapshotReport {
  readonly board: string;
  readonly generation: string;
  /** The moment of the log that it shows, in ms. */
  readonly asOf: number;
  readonly starts?: Starts;
}

import { decimalColumns, formatTime, reachTime, readStates, type BoardDefinition } from '#board';
import type { BanEntry } from '../layout/ban-register.js';
import type { StateInView } from '../layout/player-states.js';
import { decodeCursor, encodeCursor } from './view-selection.js';

export interface BansRequest {
  /** How many, at most 1,000; by default 100. */
  readonly limit?: number | undefined;
  /** The cursor `next` of another page. */
  readonly after?: string | undefined;
}

/** Players who are banned or erased on a board. The latest ban or erasure comes first. */
export interface BansPage {
  readonly board: string;
  /** Whether players may be missing: Redis lost events, or may have lost some. */
  readonly stale: boolean;
  /** The number of banned and erased players of the board. */
  readonly count: number;
  readonly bans: readonly BanEntry[];
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

/** The state of a player in a view. A player who is in no ranking can have a state, too. */
export interface KeptState {
  readonly view: string;
  readonly columns: Readonly<Record<string, string>>;
  /** RFC 3339 */
  readonly reachedAt: string;
}

/**
 * The page after a cursor. A cursor names the last ban of the page before.
 * @throws InvalidReadError
 */
export function bansPage(sorted: readonly BanEntry[], limit: number, after?: string) {
  const bansAfter = after === undefined ? sorted : bansBehind(sorted, after);
  const bans = bansAfter.slice(0, limit);
  const last = bans.at(-1);
  const hasMore = bansAfter.length > limit;
  const next = last !== undefined && hasMore ? cursorOf(last) : undefined;
  return { count: sorted.length, bans, ...(next !== undefined && { next }) };
}

type Place = Pick<BanEntry, 'time' | 'playerId'>;

function bansBehind(sorted: readonly BanEntry[], cursor: string): readonly BanEntry[] {
  const [time, playerId] = decodeCursor<[string, string]>(cursor, 2);
  const last: Place = { time: Number(time), playerId };
  const first = sorted.findIndex((ban) => latestFirst(last, ban) < 0);
  return first < 0 ? [] : sorted.slice(first);
}

function cursorOf({ time, playerId }: Place): string {
  return encodeCursor([String(time), playerId]);
}

export function latestFirst(a: Place, b: Place): number {
  if (a.time !== b.time) return b.time - a.time;
  return a.playerId < b.playerId ? -1 : Number(a.playerId > b.playerId);
}

export function keptState(definition: BoardDefinition, { view, state }: StateInView): KeptState {
  const [columns = []] = readStates(state, definition.columns.length);
  const values = columns.map(({ value }) => value);
  return {
    view,
    columns: decimalColumns(definition, values),
    reachedAt: formatTime(reachTime(columns)),
  };
}

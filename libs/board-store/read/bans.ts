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

/** Players who are banned or erased on a board, the latest first. */
export interface BansPage {
  readonly board: string;
  /** Whether players may be missing, as Redis lost events, or may have. */
  readonly stale: boolean;
  /** How many there are in all. */
  readonly count: number;
  readonly bans: readonly BanEntry[];
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

/** What a board keeps of a player in a view, also of a player who is in no ranking. */
export interface KeptState {
  readonly view: string;
  readonly columns: Readonly<Record<string, string>>;
  /** RFC 3339 */
  readonly reachedAt: string;
}

/** The page after a cursor, which names the last ban before it. @throws InvalidReadError */
export function bansPage(sorted: readonly BanEntry[], limit: number, after?: string) {
  const end = after === undefined ? undefined : bansEnd(after);
  const first = end === undefined ? 0 : sorted.findIndex((ban) => latestFirst(end, ban) < 0);
  const bans = first < 0 ? [] : sorted.slice(first, first + limit);
  const last = bans.at(-1);
  const isEnd = last === undefined || first + limit >= sorted.length;
  const next = isEnd ? {} : { next: encodeCursor([String(last.time), last.playerId]) };
  return { count: sorted.length, bans, ...next };
}

type End = Pick<BanEntry, 'time' | 'playerId'>;

export function latestFirst(a: End, b: End): number {
  if (a.time !== b.time) return b.time - a.time;
  return a.playerId < b.playerId ? -1 : Number(a.playerId > b.playerId);
}

function bansEnd(cursor: string): End {
  const [time, playerId] = decodeCursor<[string, string]>(cursor, 2);
  return { time: Number(time), playerId };
}

export function keptState(definition: BoardDefinition, { view, state }: StateInView): KeptState {
  const [found = []] = readStates(state, definition.columns.length);
  const values = found.map(({ value }) => value);
  return {
    view,
    columns: decimalColumns(definition, values),
    reachedAt: formatTime(reachTime(found)),
  };
}

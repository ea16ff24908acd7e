import type { BoardReader } from '#board-store';
import type { Known } from './values.js';

export const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, { window: week, keep: 30d }, { season: later, from: 2099-01-01, to: 2100-01-01 }]
    dimensions: [[], [region], [limit]]
  duel: { columns: [{ name: wins }, { name: time, update: best, order: asc, decimals: 2 }] }
  once: { columns: [{ name: points, min: 0, max: 100 }], deduplicate: 24h }
  quiet: { columns: [{ name: points }], publish: { rankChanges: none } }
  empty: { columns: [{ name: points }] }
`;

/** The names that these boards know of parameters whose name the document gives as a pattern. */
export const PATTERN_NAMES = ['where.region', 'where.limit', 'score.wins', 'score.time'];

const PLAYERS = [
  ...['ada', 'bob', 'a/b', '..', '%2F', 'é', '😀', '__proto__', 'constructor', 'a b', '*', '"'],
  ...Array.from({ length: 20 }, (_, n) => `p-${n}`),
];
const attributes = { region: 'eu', limit: 'low' };

/** Events that fill the boards, as lines of the score topic. */
export const EVENTS = PLAYERS.flatMap((playerId, n) => [
  { board: 'arena', playerId, delta: n % 7, attributes },
  { board: 'duel', playerId, deltas: { wins: n % 3, time: `${n}.25` } },
  { board: 'quiet', playerId, delta: n },
]).map((event) => JSON.stringify(event));

/** Values that fit the boards, or nearly so. */
export async function knownValues(reader: BoardReader): Promise<Known> {
  const first = await reader.standings('arena', { limit: 2 });
  const duel = await reader.standings('duel', { limit: 1, scores: { min: 1 } });
  const event = { playerId: 'ada', delta: '1', attributes };
  return {
    board: [...Array<string>(6).fill('arena'), 'duel', 'once', 'quiet', 'empty', 'areena'],
    ...{ player: PLAYERS, playerIds: [...PLAYERS, 'nobody'], search: ['a', 'P-1', '%', '*', ''] },
    view: ['all', 'all region=eu', 'week:2026-W01', 'season:later', 'all limit=low', 'all x=1'],
    window: ['all', 'week', 'week:previous', 'week:2026-W01', 'season:later', 'week:2026-W99'],
    at: ['2026-11-20T09:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59Z'],
    after: [first.next, duel.next],
    ...{ min: ['0', '-1', '2'], max: ['3', '2.5', '9007199254740991'], score: ['0', '2', '1.5'] },
    patternNames: PATTERN_NAMES,
    where: [{ region: 'eu' }, { limit: 'low' }, {}, attributes],
    events: [event, event, event, { ...event, eventId: 'e-1' }, { ...event, delta: 'x' }, {}],
    timeout: ['1', '2000', '30000'],
  };
}

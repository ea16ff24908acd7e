import type { ScoreInput } from '#board';
import { footballLines } from '../support/football.js';
import { playerOf, type Gain, type Player } from './players.js';

export const COLUMNS = ['points', 'goalDifference', 'goalsFor'] as const;
export type FootballColumn = (typeof COLUMNS)[number];

interface FootballLine {
  readonly playerId: string;
  readonly deltas: Partial<Record<FootballColumn, number>>;
  readonly occurredAt: string;
  readonly attributes: { readonly league: string; readonly season: string };
}

const lines = footballLines().map((line) => JSON.parse(line) as FootballLine);

/** The demo's events for a board with some of its columns. */
export function footballInputs(
  columns: readonly FootballColumn[],
): (ScoreInput & { occurredAt: number })[] {
  return lines.map(({ playerId, deltas, occurredAt, attributes: { league, season } }) => ({
    playerId,
    deltas: Object.fromEntries(columns.map((name) => [name, String(deltas[name] ?? 0)])),
    occurredAt: Date.parse(occurredAt),
    attributes: { league, season },
  }));
}

/** The players of each view: one view of all seasons, one of each season of a league. */
export function footballViews(columns: readonly FootballColumn[]): Map<string, Player[]> {
  const views = new Map<string, Map<string, Gain[]>>();
  for (const { playerId, deltas, occurredAt, attributes } of lines) {
    const gain = { values: columns.map((name) => deltas[name] ?? 0), at: Date.parse(occurredAt) };
    const { league, season } = attributes;
    for (const name of ['all', `all league=${league} season=${season}`]) {
      const view = views.get(name) ?? new Map<string, Gain[]>();
      views.set(name, view.set(playerId, [...(view.get(playerId) ?? []), gain]));
    }
  }
  return new Map(
    [...views].map(([name, view]) => [name, [...view].map(([id, gains]) => playerOf(id, gains))]),
  );
}

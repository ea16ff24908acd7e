import { isDeepStrictEqual } from 'node:util';
import { decimalColumns, type BoardDefinition } from '#board';
import type { BoardReader } from '#board-store';
import { ProgressBar } from '../progress.js';
import type { OpeningEvents } from './opening-events.js';

type Columns = Readonly<Record<string, string>>;

/** A player of the source whose columns on the board differ; null: not ranked. */
export interface Difference {
  readonly playerId: string;
  readonly source: Columns;
  readonly board: Columns | null;
}

export interface Comparison {
  readonly view: string;
  /** Redis may lack events. */
  readonly stale: boolean;
  readonly compared: number;
  /** Players of the view whom the source lacks. */
  readonly extra: number;
  readonly differences: readonly Difference[];
}

const BATCH = 1_000;

/** Compares columns, not times, with a view, by default the overall ranking. Cost: O(log N) a player, 1,000 players a trip. */
export async function compareWithBoard(
  reader: BoardReader,
  { byPlayer }: OpeningEvents,
  { definition, view: asked }: { definition: BoardDefinition; view?: string },
): Promise<Comparison> {
  const { board } = definition;
  const { view, size, stale } = await reader.standings(board, { view: asked, limit: 0 });
  const events = [...byPlayer.values()].filter(({ resolved }) =>
    resolved.views.some((moved) => moved.view === view),
  );
  const bar = new ProgressBar('players compared', events.length);
  const differences: Difference[] = [];
  let extra = size;
  for (let from = 0; from < events.length; from += BATCH) {
    const players = events.slice(from, from + BATCH).map(({ resolved }) => resolved);
    const ids = players.map(({ playerId }) => playerId);
    const { entries } = await reader.players(board, ids, { view });
    const found = new Map(entries.map(({ playerId, columns }) => [playerId, columns]));
    extra -= entries.length;
    for (const { playerId, values } of players) {
      const source = decimalColumns(definition, values.map(Number)); // a sum without a value is 0
      const columns = found.get(playerId) ?? null;
      if (!isDeepStrictEqual({ ...source }, columns && { ...columns }))
        differences.push({ playerId, source, board: columns });
    }
    bar.update(from + players.length);
  }
  bar.stop();
  return { view, stale, compared: events.length, extra, differences };
}

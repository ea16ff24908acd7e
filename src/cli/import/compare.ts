import { isDeepStrictEqual } from 'node:util';
import { decimalColumns } from '#board';
import { EXIT, readCode } from '../exit-codes.js';
import type { RedisSession } from '../session.js';
import type { OpeningEvents } from './opening-events.js';
import type { Row } from './rows.js';

/**
 * Compares columns, not times, with a view, by default the overall ranking; writes each difference to standard error. `extra`
 * counts players of the view whom the source lacks. Cost: O(log N) a player.
 */
export async function compareWithBoard(
  { reader }: RedisSession,
  opening: OpeningEvents,
  rows: AsyncIterable<Row>,
  options: { readonly view?: string },
) {
  const { definition } = opening;
  const { board } = definition;
  const { view, size, stale } = await reader.standings(board, { view: options.view, limit: 0 });
  let [compared, different, extra] = [0, 0, size];
  for await (const group of opening.of(rows)) {
    const events = group.filter(({ resolved }) => resolved.views.some((it) => it.view === view));
    if (events.length === 0) continue;
    const ids = events.map(({ resolved }) => resolved.playerId);
    const { entries } = await reader.players(board, ids, { view });
    const ranked = new Map(entries.map(({ playerId, columns }) => [playerId, { ...columns }]));
    for (const { playerId, values } of events.map(({ resolved }) => resolved)) {
      const source = { ...decimalColumns(definition, values) };
      const found = ranked.get(playerId);
      if (isDeepStrictEqual(source, found)) continue;
      different += 1;
      process.stderr.write(`${playerId}: source ${textOf(source)}, board ${textOf(found)}\n`);
    }
    compared += events.length;
    extra -= entries.length;
  }
  const code = readCode(stale, different + extra === 0 ? EXIT.ok : EXIT.no);
  return { code, facts: { view, stale, compared, different, extra } };
}

function textOf(columns: Readonly<Record<string, string>> | undefined): string {
  return columns === undefined ? 'not ranked' : Object.values(columns).join(' ');
}

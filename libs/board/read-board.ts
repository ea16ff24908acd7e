import ms from 'ms';
import type { BoardDefinition, Late, Publish, Ties } from './definition.js';
import { windowName } from './definition.js';
import { showValue, type Report } from './boards-file-problem.js';
import { readColumns, type ColumnText } from './read-columns.js';
import { readWindows, type WindowText } from './read-windows.js';
import { suggestion } from './suggestion.js';
import { isTimeZone, TIME_ZONES } from './time-zone.js';

/** A board as the schema guarantees it, defaults filled in. */
export interface BoardText {
  readonly columns: readonly ColumnText[];
  readonly ties: Ties;
  readonly timeZone: string;
  readonly windows: readonly WindowText[];
  readonly late: Late;
  readonly dimensions: readonly (readonly string[])[];
  readonly maxViews: number;
  readonly maxAhead: ms.StringValue;
  readonly deduplicate?: ms.StringValue;
  readonly publish: Publish;
}

/** The definition that a board's fields give. Of use only when nothing was reported: bad numbers are NaN then. */
export function readBoard(board: string, text: BoardText, report: Report): BoardDefinition {
  const { ties, late, dimensions, maxViews, maxAhead } = text;
  const timeZone = readTimeZone(text.timeZone, report);
  const windows = readWindows(text.windows, timeZone, report);
  return {
    board,
    columns: readColumns(text.columns, report),
    ties,
    timeZone,
    windows,
    late,
    dimensions,
    maxViews,
    maxAheadMs: ms(maxAhead),
    ...readDeduplicate(text.deduplicate, report),
    publish: readPublish(text.publish, windows.map(windowName), dimensions, report),
  };
}

/** UTC for a zone that there is not, so that other fields can be looked at. */
function readTimeZone(timeZone: string, report: Report): string {
  if (isTimeZone(timeZone)) return timeZone;
  report(
    ['timeZone'],
    `${showValue(timeZone)} is no time zone; use an IANA name such as Europe/Paris${suggestion(timeZone, TIME_ZONES)}`,
  );
  return 'UTC';
}

function readDeduplicate(
  text: ms.StringValue | undefined,
  report: Report,
): Pick<BoardDefinition, 'deduplicateMs'> {
  if (text === undefined) return {};
  const deduplicateMs = ms(text);
  if (deduplicateMs === 0)
    report(['deduplicate'], `"${text}" drops nothing; leave it out, or use a duration such as 24h`);
  return { deduplicateMs };
}

/** Lists in the board's order, and left out where they name everything: so equal meanings have equal texts. */
function readPublish(
  { rankChanges, windows, dimensions, overtook, leaders }: Publish,
  windowNames: readonly string[],
  combinations: BoardDefinition['dimensions'],
  report: Report,
): Publish {
  const texts = combinations.map(combinationText);
  for (const [index, window] of windows?.entries() ?? [])
    checkListed(window, windowNames, (reason) => report(['publish', 'windows', index], reason));
  for (const [index, names] of dimensions?.entries() ?? [])
    checkListed(combinationText(names), texts, (reason) =>
      report(['publish', 'dimensions', index], reason),
    );
  const chosen = windowNames.filter((window) => windows?.includes(window) ?? true);
  const asked = dimensions?.map(combinationText);
  const shown = combinations.filter((names) => asked?.includes(combinationText(names)) ?? true);
  return {
    rankChanges,
    ...(chosen.length === windowNames.length ? {} : { windows: chosen }),
    ...(shown.length === combinations.length ? {} : { dimensions: shown }),
    overtook,
    leaders,
  };
}

function combinationText(names: readonly string[]): string {
  return `[${names.join(', ')}]`;
}

function checkListed(
  name: string,
  known: readonly string[],
  report: (reason: string) => void,
): void {
  if (!known.includes(name))
    report(`${name} is not one of the board's: ${known.join(', ')}${suggestion(name, known)}`);
}

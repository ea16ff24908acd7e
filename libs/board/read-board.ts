import ms from 'ms';
import type { BoardDefinition, Late, Publish, Ties } from './definition.js';
import { windowName } from './definition.js';
import { showValue, type Report } from './boards-file-problem.js';
import { readColumns, type ColumnText } from './read-columns.js';
import { readTime, readWindows, type WindowText } from './read-windows.js';
import { suggestion } from './suggestion.js';
import { isTimeZone, TIME_ZONES } from './time-zone.js';

/** A board as the schema guarantees it, defaults filled in. Entries that are undefined were reported already. */
export interface BoardText {
  readonly columns: readonly (ColumnText | undefined)[];
  readonly ties: Ties;
  readonly timeZone: string;
  readonly windows: readonly (WindowText | undefined)[];
  readonly late: Late;
  readonly dimensions: readonly (readonly string[])[];
  readonly maxViews: number;
  readonly maxAhead: ms.StringValue;
  readonly notAfter?: string;
  readonly deduplicate?: ms.StringValue;
  readonly publish: Publish;
}

/** The definition that a board's fields give. Of use only when nothing was reported: bad numbers are NaN then. */
export function readBoard(board: string, text: BoardText, report: Report): BoardDefinition {
  const { ties, late, dimensions, maxViews, maxAhead, notAfter } = text;
  const timeZone = readTimeZone(text.timeZone, report);
  const windows = readWindows(text.windows, timeZone, report);
  reportRepeated(dimensions, report);
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
    ...(notAfter !== undefined && { notAfter: readTime('notAfter', notAfter, timeZone, report) }),
    ...readDeduplicate(text.deduplicate, report),
    publish: readPublish(text.publish, windows.map(windowName), dimensions, report),
  };
}

/** UTC for a zone that there is not, so that other fields can be looked at. */
function readTimeZone(timeZone: string, report: Report): string {
  if (isTimeZone(timeZone)) return timeZone;
  report(
    ['timeZone'],
    `${showValue(timeZone)} is no time zone; use an IANA name such as Europe/Paris${nearZone(timeZone)}`,
  );
  return 'UTC';
}

/** The near one by its name, or by its city alone. */
function nearZone(timeZone: string): string {
  const near = suggestion(timeZone, TIME_ZONES);
  if (near !== '') return near;
  const city = timeZone.toLowerCase().replaceAll(' ', '_');
  const meant = TIME_ZONES.find((zone) => zone.toLowerCase().endsWith(`/${city}`));
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** The same names in another order would be the same rankings under other names, of which readers know but one. */
function reportRepeated(dimensions: BoardDefinition['dimensions'], report: Report): void {
  const sorted = dimensions.map(sortedText);
  for (const [index, names] of dimensions.entries()) {
    const first = dimensions[sorted.indexOf(sortedText(names))] ?? names;
    if (combinationText(first) !== combinationText(names))
      report(
        ['dimensions', index],
        `${combinationText(names)} gives the rankings of ${combinationText(first)} again; leave it out`,
      );
  }
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
  { rankChanges, ranks, windows, dimensions, overtook, leaders }: Publish,
  windowNames: readonly string[],
  combinations: BoardDefinition['dimensions'],
  report: Report,
): Publish {
  const texts = combinations.map(combinationText);
  for (const [index, window] of windows?.entries() ?? [])
    if (!windowNames.includes(window))
      report(['publish', 'windows', index], notOneOf(windowNames, window));
  for (const [index, names] of dimensions?.entries() ?? []) {
    const asked = combinationText(names);
    const hint = sameNames(names, combinations);
    if (!texts.includes(asked))
      report(['publish', 'dimensions', index], notOneOf(texts, asked, hint));
  }
  const chosen = windowNames.filter((window) => windows?.includes(window) ?? true);
  const asked = dimensions?.map(combinationText);
  const shown = combinations.filter((names) => asked?.includes(combinationText(names)) ?? true);
  return {
    rankChanges,
    ranks,
    ...(chosen.length === windowNames.length ? {} : { windows: chosen }),
    ...(shown.length === combinations.length ? {} : { dimensions: shown }),
    overtook,
    leaders,
  };
}

/** "; did you mean [league, season]?" for [season, league]: the order of a combination is that of its views' names. */
function sameNames(names: readonly string[], combinations: BoardDefinition['dimensions']): string {
  const meant = combinations.find((combination) => sortedText(combination) === sortedText(names));
  return meant === undefined ? '' : `; did you mean ${combinationText(meant)}?`;
}

function sortedText(names: readonly string[]): string {
  return combinationText([...names].sort());
}

function combinationText(names: readonly string[]): string {
  return `[${names.join(', ')}]`;
}

function notOneOf(known: readonly string[], name: string, hint = ''): string {
  const near = hint === '' ? suggestion(name, known) : hint;
  return `${name} is not one of the board's: ${known.join(', ')}${near}`;
}

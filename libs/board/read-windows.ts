import { CronExpressionParser } from 'cron-parser';
import ms from 'ms';
import { Temporal } from 'temporal-polyfill';
import { showValue, type Report } from './boards-file-problem.js';
import { windowName, type CalendarWindow, type Window } from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';

/** A window as the schema guarantees it. */
export type WindowText = 'all' | CalendarWindow | Calendar | Season | Interval;
interface Calendar extends Kept {
  readonly window: CalendarWindow;
}
interface Season extends Kept {
  readonly season: string;
  readonly from: string;
  readonly to: string;
}
interface Interval extends Kept {
  readonly interval: string;
  readonly cron: string;
  readonly start: string;
}
interface Kept {
  readonly keep?: ms.StringValue;
}

/** The windows with their times in ms, NaN for times that were reported. One that is undefined was, too. */
export function readWindows(
  windows: readonly (WindowText | undefined)[],
  timeZone: string,
  report: Report,
): Window[] {
  const names: string[] = [];
  return windows.flatMap((text, index) => {
    if (text === undefined) return [];
    const window = readWindow(text, timeZone, (path, reason) =>
      report(['windows', index, ...path], reason),
    );
    const name = windowName(window);
    if (names.includes(name))
      report(['windows', index], `${name} is there twice; a window's name is unique in its board`);
    names.push(name);
    return window;
  });
}

function readWindow(window: WindowText, timeZone: string, report: Report): Window {
  if (typeof window === 'string') return { kind: window };
  const kept = window.keep === undefined ? {} : { keepMs: ms(window.keep) };
  if ('window' in window) return { kind: window.window, ...kept };
  const time = (field: string, text: string) => readTime(field, text, timeZone, report);
  if ('season' in window) {
    const from = time('from', window.from);
    const to = time('to', window.to);
    if (to <= from)
      report(['to'], `"${window.to}" is not later than from "${window.from}"; use a later time`);
    return { kind: 'season', name: window.season, from, to, ...kept };
  }
  const cron = window.cron.trim().replace(/\s+/g, ' ');
  const start = time('start', window.start);
  const problem = cronProblem(cron, start);
  if (problem !== undefined) report(['cron'], `${showValue(window.cron)} ${problem}`);
  return { kind: 'interval', name: window.interval, cron, start, ...kept };
}

const TIME =
  /^\d{4}-\d\d-\d\d(?:(?<clock>[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(?<zone>[Zz]|[+-]\d\d:\d\d)?)?$/;

/** ms since 1970; NaN for a text that was reported. */
export function readTime(field: string, text: string, timeZone: string, report: Report): number {
  const time = parseTime(text, timeZone);
  if (time >= EARLIEST_TIME && time <= LATEST_TIME) return time;
  report(
    [field],
    `${showValue(text)} is no time in the years 0001 to 9999; use one such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z`,
  );
  return NaN;
}

/** NaN for a text that is no time. The first moment of a day; the first of two times, and one that is skipped moved on by the gap. */
function parseTime(text: string, timeZone: string): number {
  const { clock, zone } = TIME.exec(text)?.groups ?? { clock: '', zone: '' };
  if (clock === '') return NaN;
  try {
    if (zone !== undefined) return Temporal.Instant.from(text).epochMilliseconds;
    if (clock === undefined)
      return Temporal.PlainDate.from(text).toZonedDateTime(timeZone).epochMilliseconds;
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone, {
      disambiguation: 'compatible',
    }).epochMilliseconds;
  } catch {
    return NaN;
  }
}

const CRON_FIELDS =
  'minute, hour, day of the month, month, weekday; or six fields, with seconds in front';

/** What is wrong with a cron expression, undefined when it is good. A start of NaN is not looked at. */
function cronProblem(cron: string, start: number): string | undefined {
  const fields = cron.split(' ').length;
  if (fields < 5 || fields > 6)
    return `has ${fields === 1 ? '1 field' : `${fields} fields`}; use five: ${CRON_FIELDS}`;
  // cron-parser would choose a random time, another one in each process.
  if (/(^|[ ,])H/.test(cron)) return `has an H, which stands for any time; use ${CRON_FIELDS}`;
  try {
    const currentDate = new Date(Number.isNaN(start) ? 0 : start - 1);
    const times = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate });
    return times.hasNext() && times.next().getTime() <= LATEST_TIME
      ? undefined
      : 'has no time after the start; use an earlier start';
  } catch (error) {
    return `is no cron expression: ${(error as Error).message}; use ${CRON_FIELDS}`;
  }
}

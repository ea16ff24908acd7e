import ms from 'ms';
import { Temporal } from 'temporal-polyfill';
import { showValue, type Report } from './boards-file-problem.js';
import { windowName, type CalendarWindow, type Close, type Window } from './definition.js';
import { suggestion } from './suggestion.js';
import { EARLIEST_TIME, LATEST_TIME } from './time.js';
import { cronFrom } from './windows.js';

export type WindowText =
  | 'all'
  | CalendarWindow
  | ({ readonly window: CalendarWindow } & Ending)
  | ({ readonly season: string; readonly from: string; readonly to: string } & Ending)
  | ({ readonly interval: string; readonly cron: string; readonly start: string } & Ending);
interface Ending {
  readonly keep?: ms.StringValue;
  readonly close?: CloseText;
}
interface CloseText {
  readonly from: string;
  readonly grace?: ms.StringValue;
  readonly review?: ms.StringValue | 'manual';
  readonly results?: number;
}

/**
 * The windows, with times in ms (NaN for an invalid time, which is reported). Skips undefined
 * entries: the schema refused them.
 */
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
      report(['windows', index], `duplicate window ${name}; use each window once`);
    names.push(name);
    return window;
  });
}

function readWindow(window: WindowText, timeZone: string, report: Report): Window {
  if (typeof window === 'string') return { kind: window };
  const ending = readEnding(window, timeZone, report);
  if ('window' in window) return { kind: window.window, ...ending };
  const time = (field: string, text: string) => readTime(field, text, timeZone, report);
  if ('season' in window) {
    const from = time('from', window.from);
    const to = time('to', window.to);
    if (to <= from)
      report(['to'], `"${window.to}" is not later than from "${window.from}"; use a later time`);
    return { kind: 'season', name: window.season, from, to, ...ending };
  }
  const cron = window.cron.trim().replace(/\s+/g, ' ');
  const start = time('start', window.start);
  const problem = cronProblem(cron, start);
  if (problem !== undefined) report(['cron'], `${showValue(window.cron)} ${problem}`);
  return { kind: 'interval', name: window.interval, cron, start, ...ending };
}

/** The defaults of `close`, for fields other than `from`. */
const CLOSE = { grace: '10m', review: '24h', results: 100 } as const;

function readEnding({ keep, close: text }: Ending, timeZone: string, report: Report) {
  const close = text && readClose({ ...CLOSE, ...text }, timeZone, report);
  if (keep !== undefined && close !== undefined) reportShortKeep(keep, close, report);
  return {
    ...(keep !== undefined && { keepMs: ms(keep) }),
    ...(close !== undefined && { close }),
  };
}

function readClose(
  { from, grace, review, results }: Required<CloseText>,
  timeZone: string,
  report: Report,
): Close {
  return {
    from: readTime('from', from, timeZone, (path, reason) => report(['close', ...path], reason)),
    graceMs: ms(grace),
    reviewMs: review === 'manual' ? review : ms(review),
    results,
  };
}

/** A view must exist until a day after its announcement, so that subscribers can read all of it. */
function reportShortKeep(keep: ms.StringValue, { graceMs, reviewMs }: Close, report: Report): void {
  const leastMs = graceMs + (reviewMs === 'manual' ? 0 : reviewMs) + ms('1d');
  if (ms(keep) >= leastMs) return;
  const hours = Math.ceil(leastMs / ms('1h'));
  report(
    ['keep'],
    `"${keep}" is shorter than grace + review + 1 day of close; use at least ${hours}h`,
  );
}

const TIME =
  /^\d{4}-\d\d-\d\d(?<clock>[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?<zone>[Zz]|[+-]\d\d:\d\d)?)?$/;

/** The time in ms since 1970. Reports a text that is not a time, and returns NaN for it. */
export function readTime(field: string, text: string, timeZone: string, report: Report): number {
  const time = timeInZone(text, timeZone);
  if (time >= EARLIEST_TIME && time <= LATEST_TIME) return time;
  report(
    [field],
    `${showValue(text)} is not a time in the years 0001 to 9999; use a time such as ` +
      '2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z',
  );
  return NaN;
}

/**
 * A date means its first moment; a local time that occurs twice means the earlier one; a local time
 * that a clock change skips is moved forward by the gap. NaN for a text that is not a time.
 */
export function timeInZone(text: string, timeZone: string): number {
  const parts = TIME.exec(text);
  if (parts === null) return NaN;
  const { clock, zone } = parts.groups ?? {};
  try {
    if (zone !== undefined) return Temporal.Instant.from(text).epochMilliseconds;
    const local =
      clock === undefined ? Temporal.PlainDate.from(text) : Temporal.PlainDateTime.from(text);
    return local.toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    return NaN; // a date that does not exist
  }
}

const CRON_FIELDS =
  'minute, hour, day of the month, month and weekday, optionally with seconds in front';

function cronProblem(cron: string, start: number): string | undefined {
  const fields = cron.split(' ').length;
  if (fields < 5 || fields > 6)
    return `has ${fields === 1 ? '1 field' : `${fields} fields`}; use ${CRON_FIELDS}`;
  // cron-parser would choose another random time in each process.
  if (/(^|[ ,])H/.test(cron)) return `has an H, which means a random time; use ${CRON_FIELDS}`;
  try {
    const times = cronFrom(cron, Number.isNaN(start) ? 0 : start - 1);
    const hasTime = times.hasNext() && times.next().getTime() <= LATEST_TIME;
    return hasTime ? undefined : 'has no time after start; use an earlier start';
  } catch (error) {
    return `is not a cron expression (${(error as Error).message}); use ${CRON_FIELDS}`;
  }
}

/** The main names of the zones that Node knows. Node also accepts other names, such as old ones. */
const TIME_ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];
const LOWER_CASE_TIME_ZONES = TIME_ZONES.map((zone) => zone.toLowerCase());

/** Reports a text that is not a zone. Returns UTC for it, so that other fields can be checked. */
export function readTimeZone(timeZone: string, report: Report): string {
  if (isTimeZone(timeZone)) return timeZone;
  report(
    ['timeZone'],
    `${showValue(timeZone)} is not a time zone; use an IANA name such as ` +
      `Europe/Paris${nearZone(timeZone)}`,
  );
  return 'UTC';
}

/**
 * Whether Node accepts a text as a zone. Main names need their own spelling; all names begin with A
 * to Z, unlike +02:00.
 */
function isTimeZone(text: string): boolean {
  if (TIME_ZONES.includes(text)) return true;
  if (!/^[A-Z]/.test(text) || LOWER_CASE_TIME_ZONES.includes(text.toLowerCase())) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Suggests a zone with a similar name, or the zone of a city. */
function nearZone(timeZone: string): string {
  const city = timeZone.toLowerCase().replaceAll(' ', '_');
  const zone = TIME_ZONES.find((known) => known.toLowerCase().endsWith(`/${city}`));
  return suggestion(timeZone, TIME_ZONES) || (zone ? `; did you mean ${zone}?` : '');
}

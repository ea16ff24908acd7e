import { createRequire } from 'node:module';
import type { CronExpression } from 'cron-parser';
import { Temporal } from 'temporal-polyfill';
import {
  closeOf,
  derived,
  keepOf,
  windowName,
  type BoardDefinition,
  type CalendarWindow,
  type Interval,
  type Window,
} from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './time.js';

/**
 * A span of event time: contains `start`, not `end` (ms since 1970). Without `text`, the window has
 * no instance in this span.
 */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly text?: string;
}

/** One instance of a window, such as a day. */
export interface WindowInstance extends Required<Span> {
  /** In ms of the board's event clock; null: never. */
  readonly expiresAt: number | null;
  /** The last timestamp (ms) of a record that can still change the instance; null: any can. */
  readonly closesAt: number | null;
}

const END_OF_TIME = LATEST_TIME + 1;

/** How many spans a WindowFinder caches at most: about 11 years of days. */
const MAX_CACHED_SPANS = 4_096;

/**
 * The instance of each window that contains a time; undefined for a window without one. Returns the
 * list of the last call if it still holds, because most events have about the same time.
 * Cost: for a new list, a binary search per window; much more for an instance that is not cached.
 */
export function windowsAt(definition: BoardDefinition, time: number) {
  const recent = recentWindows(definition);
  if (time >= recent.start && time < recent.end) return recent.list;

  const spans = findersOf(definition).map((finder) => finder.find(time));
  recent.start = Math.max(...spans.map(({ start }) => start));
  recent.end = Math.min(...spans.map(({ end }) => end));
  recent.list = spans.map(({ instance }) => instance);
  return recent.list;
}

/** The last list of `windowsAt`, which holds from `start` until before `end`. */
const recentWindows = derived(() => {
  return { start: NaN, end: NaN, list: [] as readonly (WindowInstance | undefined)[] };
});

/** The instance that a text such as `day:2026-11-20` names; undefined if the board has none. */
export function parseWindow(definition: BoardDefinition, text: string): WindowInstance | undefined {
  for (const [index, window] of definition.windows.entries()) {
    const time = timeWithin(window, text, definition.timeZone);
    if (time === undefined) continue;
    const eventTime = Math.min(Math.max(time, EARLIEST_TIME), LATEST_TIME);
    const instance = findersOf(definition)[index]?.find(eventTime).instance;
    if (instance?.text === text) return instance;
  }
  return undefined;
}

const findersOf = derived(({ windows, timeZone }) =>
  windows.map((window) => new WindowFinder(window, timeZone)),
);

interface CachedSpan extends Span {
  readonly instance: WindowInstance | undefined;
}

/** Finds the instances of one window. Caches spans, ordered by start. */
class WindowFinder {
  #cached: CachedSpan[] = [];

  constructor(
    private readonly window: Window,
    private readonly timeZone: string,
  ) {}

  /** The span that contains a time. */
  find(time: number): CachedSpan {
    const place = this.#firstAfter(time);
    const before = this.#cached[place - 1];
    if (before !== undefined && time < before.end) return before;

    const span = spanAt(this.window, time, this.timeZone);
    const cached = { ...span, instance: this.#instanceOf(span) };
    if (this.#cached.length >= MAX_CACHED_SPANS) this.#cached = [cached];
    else this.#cached.splice(place, 0, cached);
    return cached;
  }

  #instanceOf({ start, end, text }: Span): WindowInstance | undefined {
    if (text === undefined) return undefined;
    const keepMs = keepOf(this.window);
    const close = closeOf(this.window);
    const closes = close !== undefined && end >= close.from;
    return {
      text,
      start,
      end,
      expiresAt: keepMs === undefined ? null : end + keepMs,
      closesAt: closes ? end + close.graceMs : null,
    };
  }

  /** The index of the first cached span that starts after a time. */
  #firstAfter(time: number): number {
    let low = 0;
    let high = this.#cached.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#cached[middle]?.start ?? Infinity) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function spanAt(window: Window, time: number, timeZone: string): Span {
  switch (window.kind) {
    case 'all':
      return { text: 'all', start: EARLIEST_TIME, end: END_OF_TIME };
    case 'season': {
      const { from, to } = window;
      if (time < from) return { start: EARLIEST_TIME, end: from };
      if (time >= to) return { start: to, end: END_OF_TIME };
      return { text: windowName(window), start: from, end: to };
    }
    case 'interval':
      return intervalAt(window, time, timeZone);
    default:
      return calendarSpan(window.kind, time, timeZone);
  }
}

/** The day, week, month or year on the clock of the zone, cut at the years 0001 and 9999. */
function calendarSpan(kind: CalendarWindow, time: number, timeZone: string): Span {
  // The first instant of a day is not always midnight; where midnight occurs twice, it is the first
  // midnight.
  const startOf = (day: Day) => day.toZonedDateTime(timeZone).epochMilliseconds;
  const nextOf = (day: Day) => day.add({ [`${kind}s`]: 1 });

  let first = FIRST_DAYS[kind](zonedTime(time, timeZone).toPlainDate());
  let next = nextOf(first);
  // A clock that goes back over midnight shows the old date again, but the new day has begun.
  while (startOf(next) <= time) {
    first = next;
    next = nextOf(first);
  }

  return {
    text: `${kind}:${TEXTS[kind](first)}`,
    start: Math.max(startOf(first), EARLIEST_TIME),
    end: Math.min(startOf(next), END_OF_TIME),
  };
}

function zonedTime(time: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone);
}

type Day = Temporal.PlainDate;

const FIRST_DAYS: Readonly<Record<CalendarWindow, (date: Day) => Day>> = {
  day: (date) => date,
  week: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
  month: (date) => date.with({ day: 1 }),
  year: (date) => date.with({ month: 1, day: 1 }),
};

/** The text of the window that begins with a day. */
const TEXTS: Readonly<Record<CalendarWindow, (first: Day) => string>> = {
  day: (day) => `${TEXTS.month(day)}-${padded(day.day, 2)}`,
  week: (day) => `${padded(day.yearOfWeek ?? day.year, 4)}-W${padded(day.weekOfYear ?? 0, 2)}`,
  month: (day) => `${TEXTS.year(day)}-${padded(day.month, 2)}`,
  year: (day) => padded(day.year, 4),
};

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/**
 * The times of a cron expression in UTC, from a time in ms. Loads cron-parser only for boards with
 * intervals.
 */
export function cronFrom(expression: string, from: number): CronExpression {
  const library = createRequire(import.meta.url)('cron-parser') as typeof import('cron-parser');
  return library.CronExpressionParser.parse(expression, { tz: 'UTC', currentDate: new Date(from) });
}

/**
 * The span from one time of the cron expression to the next. The expression describes wall clock
 * times. cron-parser steps through them in UTC, because in zones with clock changes it can return a
 * time twice, skip one, or give up. firstShown then finds when the zone's clock first shows each of
 * these times, or jumps over it.
 */
function intervalAt({ name, cron, start }: Interval, time: number, timeZone: string) {
  if (time < start) return { start: EARLIEST_TIME, end: start };

  const offsetMs = Math.round(zonedTime(time, timeZone).offsetNanoseconds / 1e6);
  const wallClock = cronFrom(cron, time + offsetMs + 1);
  let first = wallClock.hasPrev() ? firstShown(wallClock.prev().getTime(), timeZone) : -Infinity;
  const next = () =>
    wallClock.hasNext() ? firstShown(wallClock.next().getTime(), timeZone) : Infinity;

  let end = next();
  while (end <= time) {
    first = end;
    end = next();
  }
  if (first < start) return { start, end };

  const startText = Temporal.Instant.fromEpochMilliseconds(first).toString();
  return { text: `interval:${name}@${startText}`, start: first, end: Math.min(end, END_OF_TIME) };
}

/** When the zone's clock first shows a wall clock time (in ms as if in UTC), or jumps over it. */
function firstShown(wallClock: number, timeZone: string): number {
  const plain = zonedTime(wallClock, 'UTC').toPlainDateTime();
  const zoned = plain.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const isSkipped = !zoned.toPlainDateTime().equals(plain);
  const transition = isSkipped ? zoned.getTimeZoneTransition('next') : null;
  return (transition ?? zoned).epochMilliseconds;
}

/**
 * A time within the instance that a text would name; undefined if the text can't name an instance
 * of this window.
 */
function timeWithin(window: Window, text: string, timeZone: string): number | undefined {
  try {
    switch (window.kind) {
      case 'all':
        return EARLIEST_TIME;
      case 'season':
        return window.from;
      case 'interval':
        return Temporal.Instant.from(text.slice(windowName(window).length + 1)).epochMilliseconds;
      default: {
        const prefix = `${window.kind}:`;
        if (!text.startsWith(prefix)) return undefined;
        return dateWithin(window.kind, text.slice(prefix.length), timeZone);
      }
    }
  } catch {
    return undefined; // Temporal throws a RangeError for a text that is not a date
  }
}

/**
 * Noon of a day well inside the span that a text names. A text can have the year 0000 or 10000: in
 * some zones, the clock shows them at the edges of the years 0001 to 9999 of UTC.
 * @throws RangeError
 */
function dateWithin(kind: CalendarWindow, text: string, timeZone: string): number {
  const [, digits = '', rest = ''] = /^(\d{4,5})(-.+)?$/.exec(text) ?? [];
  const year = digits.length === 5 ? `+0${digits}` : digits;
  const dates = {
    day: `${year}${rest}`,
    week: `${year}-01-04`,
    month: `${year}${rest}-15`,
    year: `${year}-07-01`,
  };
  const date = Temporal.PlainDate.from(dates[kind]);
  const day = kind === 'week' ? date.add({ weeks: Number(rest.slice(2)) - 1 }) : date;
  return day.toZonedDateTime({ timeZone, plainTime: '12:00' }).epochMilliseconds;
}

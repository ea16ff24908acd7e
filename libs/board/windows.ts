import { CronExpressionParser } from 'cron-parser';
import { Temporal } from 'temporal-polyfill';
import {
  windowName,
  type BoardDefinition,
  type CalendarWindow,
  type Window,
} from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';

/** A stretch of event time: contains `start`, not `end` (ms since 1970). */
interface Stretch {
  readonly start: number;
  readonly end: number;
}
interface Span extends Stretch {
  readonly text: string;
}

/** One instance of a window, such as a day. `expiresAt` is in ms of the board's event clock; null: never. */
export interface WindowInstance extends Span {
  readonly expiresAt: number | null;
}

/** The end of all times that an event can have. */
const END_OF_TIME = LATEST_TIME + 1;

/** What is known of a window: an instance, or a stretch in which it has none. */
interface Known extends Stretch {
  readonly instance?: WindowInstance;
}

/** Most instances of a window that are remembered: about 11 years of days. */
const MOST_REMEMBERED = 4_096;

/**
 * The instance of each of the board's windows that holds a time; undefined where a window has none then.
 * Cost: a binary search a window; the first time in an instance, a look into the calendar or, slower by far, the cron expression.
 */
export function windowsAt(
  definition: BoardDefinition,
  time: number,
): readonly (WindowInstance | undefined)[] {
  return findersOf(definition).map((finder) => finder.at(time));
}

/** The instance that a text such as `day:2026-11-20` names; undefined when the board has none of that name. */
export function parseWindow(
  definition: BoardDefinition,
  text: string,
): { window: Window; instance: WindowInstance } | undefined {
  for (const [index, window] of definition.windows.entries()) {
    const time = timeWithin(window, text, definition.timeZone);
    if (time === undefined) continue;
    const within = Math.min(Math.max(time, EARLIEST_TIME), LATEST_TIME);
    const instance = findersOf(definition)[index]?.at(within);
    if (instance?.text === text) return { window, instance };
  }
  return undefined;
}

const finders = new WeakMap<BoardDefinition, readonly WindowFinder[]>();

function findersOf(definition: BoardDefinition): readonly WindowFinder[] {
  let found = finders.get(definition);
  if (found === undefined) {
    found = definition.windows.map((window) => new WindowFinder(window, definition.timeZone));
    finders.set(definition, found);
  }
  return found;
}

/** Finds instances of one window, and remembers them, and where there is none, in the order of their starts. */
class WindowFinder {
  #known: Known[] = [];

  constructor(
    private readonly window: Window,
    private readonly timeZone: string,
  ) {}

  at(time: number): WindowInstance | undefined {
    const place = this.#firstAfter(time);
    const before = this.#known[place - 1];
    if (before !== undefined && time < before.end) return before.instance;
    const span = spanAt(this.window, time, this.timeZone);
    if (span === undefined) return undefined;
    const known = this.#toKnown(span);
    if (this.#known.length >= MOST_REMEMBERED) this.#known = [known];
    else this.#known.splice(place, 0, known);
    return known.instance;
  }

  #toKnown(span: Span | Stretch): Known {
    const { start, end } = span;
    if (!('text' in span)) return span;
    return { start, end, instance: { ...span, expiresAt: expiry(this.window, end) } };
  }

  /** How many of the known instances start at or before a time. */
  #firstAfter(time: number): number {
    let low = 0;
    let high = this.#known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#known[middle]?.start ?? Infinity) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function expiry(window: Window, end: number): number | null {
  return window.kind !== 'all' && window.keepMs !== undefined ? end + window.keepMs : null;
}

/** A stretch without a text has no instance; undefined when it has none and how far that goes is not worth knowing. */
function spanAt(window: Window, time: number, timeZone: string): Span | Stretch | undefined {
  switch (window.kind) {
    case 'all':
      return { text: 'all', start: EARLIEST_TIME, end: END_OF_TIME };
    case 'season': {
      const { from, to } = window;
      const inside = time >= from && time < to;
      return inside ? { text: windowName(window), start: from, end: to } : undefined;
    }
    case 'interval':
      return intervalAt(window, time, timeZone);
    default:
      return calendarSpan(window.kind, time, timeZone);
  }
}

/** The day, week, month or year of the zone's clock; one that would leave the years 0001 to 9999 ends there. */
function calendarSpan(kind: CalendarWindow, time: number, timeZone: string): Span {
  const date = Temporal.Instant.fromEpochMilliseconds(time)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate();
  // The first instant of a day is not always midnight, and it may be the earlier one of two.
  const start = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
  const after = (day: Temporal.PlainDate) => day.add({ [`${kind}s`]: 1 });
  let first = firstDay(kind, date);
  // A clock that goes back over midnight shows the old date again, but the new one has begun.
  while (start(after(first)) <= time) first = after(first);
  return {
    text: `${kind}:${calendarText(kind, first)}`,
    start: Math.max(start(first), EARLIEST_TIME),
    end: Math.min(start(after(first)), END_OF_TIME),
  };
}

function firstDay(kind: CalendarWindow, date: Temporal.PlainDate): Temporal.PlainDate {
  switch (kind) {
    case 'day':
      return date;
    case 'week':
      return date.subtract({ days: date.dayOfWeek - 1 });
    case 'month':
      return date.with({ day: 1 });
    case 'year':
      return date.with({ month: 1, day: 1 });
  }
}

function calendarText(kind: CalendarWindow, first: Temporal.PlainDate): string {
  const year = padded(first.year, 4);
  switch (kind) {
    case 'day':
      return `${year}-${padded(first.month, 2)}-${padded(first.day, 2)}`;
    case 'week':
      return `${padded(first.yearOfWeek ?? first.year, 4)}-W${padded(first.weekOfYear ?? 0, 2)}`;
    case 'month':
      return `${year}-${padded(first.month, 2)}`;
    case 'year':
      return year;
  }
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

type Interval = Extract<Window, { kind: 'interval' }>;

/**
 * From one time of the expression to the next. The expression speaks of a clock's face, so cron-parser steps in UTC,
 * whose clock never changes (in other zones it may find a time twice, not at all, or give up); the zone then says when
 * the face first shows that time, or passes over it.
 */
function intervalAt(
  { name, cron, start }: Interval,
  time: number,
  timeZone: string,
): Span | Stretch | undefined {
  if (time < start) return { start: EARLIEST_TIME, end: start };
  const face = CronExpressionParser.parse(cron, {
    tz: 'UTC',
    currentDate: new Date(shownAt(time, timeZone) + 1),
  });
  if (!face.hasPrev()) return undefined;
  let first = firstShown(face.prev().getTime(), timeZone);
  const next = () => (face.hasNext() ? firstShown(face.next().getTime(), timeZone) : Infinity);
  let end = next();
  while (end <= time) [first, end] = [end, next()];
  if (first < start) return { start, end };
  const at = Temporal.Instant.fromEpochMilliseconds(first).toString();
  return { text: `interval:${name}@${at}`, start: first, end: Math.min(end, END_OF_TIME) };
}

/** What the zone's clock shows at a time; given, like all times on its face, in ms as if it were in UTC. */
function shownAt(time: number, timeZone: string): number {
  const { offsetNanoseconds } =
    Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone);
  return time + Math.round(offsetNanoseconds / 1e6);
}

/** When the zone's clock first shows a time, or jumps over it: later on the face is never earlier in time. */
function firstShown(face: number, timeZone: string): number {
  const plain = Temporal.Instant.fromEpochMilliseconds(face)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  const zoned = plain.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const skipped = !zoned.toPlainDateTime().equals(plain);
  const at = skipped ? zoned.getTimeZoneTransition('next') : zoned;
  return (at ?? zoned).epochMilliseconds;
}

/** A time within the instance that a text may name; undefined when it is no text of this window. */
function timeWithin(window: Window, text: string, timeZone: string): number | undefined {
  switch (window.kind) {
    case 'all':
      return EARLIEST_TIME;
    case 'season':
      return window.from;
    case 'interval':
      return instant(text.slice(windowName(window).length + 1));
    default:
      return text.startsWith(`${window.kind}:`)
        ? dateWithin(window.kind, text.slice(window.kind.length + 1), timeZone)
        : undefined;
  }
}

function instant(text: string): number | undefined {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** Noon of a day well inside the day, week, month or year of a text. A zone's year may be 0 or 10000 for a time within the years 0001 to 9999. */
function dateWithin(kind: CalendarWindow, text: string, timeZone: string): number | undefined {
  const [, digits = '', rest = ''] = /^(\d{4,5})(-.+)?$/.exec(text) ?? [];
  const year = digits.length === 5 ? `+0${digits}` : digits;
  const dates = {
    day: `${year}${rest}`,
    week: `${year}-01-04`,
    month: `${year}${rest}-15`,
    year: `${year}-07-01`,
  };
  try {
    const date = Temporal.PlainDate.from(dates[kind]);
    const day = kind === 'week' ? date.add({ weeks: Number(rest.slice(2)) - 1 }) : date;
    return day.toZonedDateTime({ timeZone, plainTime: '12:00' }).epochMilliseconds;
  } catch {
    return undefined;
  }
}

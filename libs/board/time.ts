import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const LONGEST_TEXT = 64;

/** The calendar repeats itself: Date.UTC is asked one cycle later, as it takes the years below 100 for 19xx. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 86_400_000;

/** The last text and its time: a text is first checked, then read. */
let last: { readonly text: string; readonly time: number | undefined } = {
  text: '',
  time: undefined,
};

/**
 * The ms since 1970 of an RFC 3339 time with a zone, years 0001 to 9999; undefined for anything else.
 * Digits beyond ms are cut, not rounded. Leap seconds (:60) are refused: they have no place on this scale.
 */
export function parseTime(text: string): number | undefined {
  if (last.text !== text) last = { text, time: readTime(text) };
  return last.time;
}

function readTime(text: string): number | undefined {
  const match = text.length <= LONGEST_TEXT ? RFC_3339.exec(text) : null;
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute] =
    match;
  const inRange =
    dayExists(Number(year), Number(month), Number(day)) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(zoneHour ?? 0) < 24 &&
    Number(zoneMinute ?? 0) < 60;
  if (!inRange) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const days = Date.UTC(Number(year) + CYCLE_YEARS, Number(month) - 1, Number(day)) - CYCLE_MS;
  const local = days + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + ms;
  const offset = (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * 60_000;
  const time = sign === '-' ? local + offset : local - offset;
  return time >= EARLIEST_TIME && time <= LATEST_TIME ? time : undefined;
}

/** RFC 3339 in UTC with ms, for times of the years 0001 to 9999. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Whether a value is a time that parseTime takes. */
export function isEventTime(value: unknown): value is string {
  return typeof value === 'string' && parseTime(value) !== undefined;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function dayExists(year: number, month: number, day: number): boolean {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  return year > 0 && day > 0 && day <= days;
}

import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
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

/** Every event has one: the form is checked as a whole, then numbers are read where they stand, without texts of their own. */
function readTime(text: string): number | undefined {
  if (text.length > LONGEST_TEXT || !RFC_3339.test(text)) return undefined;
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)];
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)];
  const end = text.length - (/[Zz]$/.test(text) ? 1 : 6);
  const zone = zoneMinutes(text, end);
  if (!dayExists(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
  if (zone === undefined) return undefined;
  const days = Date.UTC(year + CYCLE_YEARS, month - 1, day) - CYCLE_MS;
  const time = days + ((hour * 60 + minute - zone) * 60 + second) * 1_000 + msOf(text, end);
  return time >= EARLIEST_TIME && time <= LATEST_TIME ? time : undefined;
}

/** The number that some places of a text give. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = 10 * value + text.charCodeAt(at) - 48;
  return value;
}

/** The first three digits of a fraction that ends before `end`. */
function msOf(text: string, end: number): number {
  const count = Math.max(0, Math.min(3, end - 20));
  return digits(text, 20, 20 + count) * 10 ** (3 - count);
}

/** Of the zone that begins at `at`: east of Greenwich, above 0. */
function zoneMinutes(text: string, at: number): number | undefined {
  if (text.length - at === 1) return 0;
  const [hours, minutes] = [digits(text, at + 1, at + 3), digits(text, at + 4, at + 6)];
  if (hours > 23 || minutes > 59) return undefined;
  return (text[at] === '-' ? -1 : 1) * (hours * 60 + minutes);
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

import { DateTime } from 'luxon';
import type { BoardDefinition, Interval, Window } from '#board';
import { DAILY } from './definitions.js';

/** A span of time and its name; `end` is excluded. */
export interface PlainInstance {
  readonly text: string;
  readonly end: number;
}

const TEXTS = {
  day: "'day:'yyyy-MM-dd",
  week: "'week:'kkkk-'W'WW",
  month: "'month:'yyyy-MM",
  year: "'year:'yyyy",
} as const;

/**
 * Whether a record comes too late for an instance: its timestamp is after the end and the grace.
 */
export function isClosed(window: Window, { end }: PlainInstance, timestamp: number): boolean {
  if (window.kind === 'all' || window.close === undefined) return false;
  const { from, graceMs } = window.close;
  return end >= from && timestamp - graceMs > end;
}

/**
 * The instance of a window that holds a time, by luxon. libs/board/windows.spec.ts tries more zones
 * and times.
 */
export function instanceAt(
  window: Window,
  time: number,
  { timeZone }: BoardDefinition,
): PlainInstance | undefined {
  const date = DateTime.fromMillis(time, { zone: timeZone });
  switch (window.kind) {
    case 'all':
      return { text: 'all', end: Infinity };
    case 'season':
      return time >= window.from && time < window.to
        ? { text: `season:${window.name}`, end: window.to }
        : undefined;
    case 'interval': {
      const stepMs = everySeconds(window.cron) * 1_000;
      if (stepMs > 0) return intervalOf(window, time - (time % stepMs), stepMs);
      const today = date.set({ hour: DAILY.hour, minute: DAILY.minute, second: 0, millisecond: 0 });
      const from = today <= date ? today : today.minus({ days: 1 });
      return intervalOf(window, from.toMillis(), from.plus({ days: 1 }).diff(from).toMillis());
    }
    default:
      return {
        text: date.toFormat(TEXTS[window.kind]),
        end: date.endOf(window.kind).toMillis() + 1,
      };
  }
}

/**
 * N of the cron expression for each Nth second of a minute, which is the same in every zone; else
 * 0.
 */
function everySeconds(cron: string): number {
  return Number(/^\*\/(\d+) \* \* \* \* \*$/.exec(cron)?.[1] ?? 0);
}

function intervalOf({ name, start }: Interval, from: number, ms: number) {
  if (from < start) return undefined;
  const text = DateTime.fromMillis(from).toUTC().toFormat("yyyy-MM-dd'T'HH:mm:ss'Z'");
  return { text: `interval:${name}@${text}`, end: from + ms };
}

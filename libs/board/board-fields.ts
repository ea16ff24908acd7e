import { formatDecimal } from './decimal.js';
import type { BoardDefinition, Column, Window } from './definition.js';
import { windowName } from './definition.js';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * The fields of a board as a boards file says them, every default written: what parseBoardsFile reads back as the same
 * definition. Fields without a default (`min`, `keep`, `deduplicate`) are there when they are in force. Times are in UTC.
 */
export function boardFields(definition: BoardDefinition) {
  const { columns, ties, timeZone, windows, late, dimensions } = definition;
  const { maxViews, maxAheadMs, notAfter, deduplicateMs, publish } = definition;
  return {
    columns: columns.map(columnFields),
    ties,
    timeZone,
    windows: windows.map(windowFields),
    late,
    dimensions,
    maxViews,
    maxAhead: durationText(maxAheadMs),
    ...(notAfter === undefined ? {} : { notAfter: time(notAfter) }),
    ...(deduplicateMs === undefined ? {} : { deduplicate: durationText(deduplicateMs) }),
    publish: {
      rankChanges: publish.rankChanges,
      ranks: publish.ranks,
      windows: publish.windows ?? windows.map(windowName),
      dimensions: publish.dimensions ?? dimensions,
      overtook: publish.overtook,
      leaders: publish.leaders,
    },
  };
}

function columnFields({ name, update, order, decimals, min, max, from }: Column) {
  return {
    name,
    update,
    order,
    decimals,
    ...(min === undefined ? {} : { min: formatDecimal(min, decimals) }),
    ...(max === undefined ? {} : { max: formatDecimal(max, decimals) }),
    ...(from === undefined ? {} : { from }),
  };
}

function windowFields(window: Window) {
  const { kind } = window;
  if (kind === 'all') return kind;
  const kept = window.keepMs === undefined ? {} : { keep: durationText(window.keepMs) };
  switch (kind) {
    case 'season':
      return { season: window.name, from: time(window.from), to: time(window.to), ...kept };
    case 'interval':
      return { interval: window.name, cron: window.cron, start: time(window.start), ...kept };
    default:
      return window.keepMs === undefined ? kind : { window: kind, ...kept };
  }
}

/** In the largest unit that needs no fraction, as the schema of durations has no room for long numbers. */
function durationText(ms: number): string {
  const [unit, span] = UNITS.find(([, span]) => ms > 0 && ms % span === 0) ?? ['ms', 1];
  return `${ms / span}${unit}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

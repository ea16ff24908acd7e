import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { formatDecimal } from './decimal.js';
import {
  windowName,
  type BoardDefinition,
  type Close,
  type Column,
  type Interval,
  type Publish,
  type Season,
  type Window,
} from './definition.js';
import { formatTime } from './time.js';
import { voidOf, voidText, type VoidText } from './voids.js';

/**
 * The JSON text of a definition, as Redis and Kafka store it. Equal definitions have equal texts in
 * all versions of ranklog: fields that later versions added are left out if they have their
 * default, so a default must never change.
 */
export function definitionText(definition: BoardDefinition): string {
  const { board, columns, ties, windows, dimensions, maxAheadMs } = definition;
  const { notAfter, deduplicateMs, publish, voids } = definition;
  return JSON.stringify({
    board,
    columns: columns.map(columnText),
    ties,
    windows: windows.map(windowText),
    dimensions,
    maxAheadMs,
    ...withoutDefaults<Later>(definition, LATER),
    notAfter,
    deduplicateMs,
    publish: publishText(publish),
    voids: voids?.map(voidText),
  });
}

/** Reads a text that this or an earlier version of definitionText wrote. */
export function parseDefinitionText(text: string): BoardDefinition {
  const { windows, publish, voids, ...fields } = JSON.parse(text) as StoredDefinition;
  return {
    ...LATER,
    ...fields,
    windows: windows.map((window) => (typeof window === 'string' ? { kind: window } : window)),
    publish: { ...PUBLISH, ...publish },
    ...(voids && { voids: voids.map(voidOf) }),
  };
}

/** The first 12 hex digits of the SHA-256 of the text. */
export function definitionHash(definition: BoardDefinition): string {
  return createHash('sha256').update(definitionText(definition)).digest('hex').slice(0, 12);
}

/** Fields that later versions added, with their defaults. */
type Later = Pick<BoardDefinition, 'timeZone' | 'late' | 'maxViews'>;
const LATER: Later = { timeZone: 'UTC', late: 'deadLetter', maxViews: 10_000 };

type PublishDefaults = Omit<Publish, 'windows' | 'dimensions'>;
const PUBLISH: PublishDefaults = {
  rankChanges: 'every',
  ranks: ['ordinal'],
  overtook: 0,
  leaders: 0,
};

type StoredDefinition = Omit<BoardDefinition, 'windows' | 'publish' | 'voids' | keyof Later> &
  Partial<Later> & {
    readonly windows: readonly (Exclude<Window['kind'], 'season' | 'interval'> | Window)[];
    readonly publish?: Partial<Publish>;
    readonly voids?: readonly VoidText[];
  };

function columnText({ name, update, order, decimals, min, max, from }: Column) {
  const weights = from && Object.entries(from).sort(([a], [b]) => (a < b ? -1 : 1));
  const sorted = weights && Object.fromEntries(weights);
  return { name, update, order, decimals, min, max, from: sorted };
}

/** `"week"`, or an object for a window with more than a kind. */
function windowText(window: Window) {
  const { kind, ...rest } = window;
  const fields: Partial<Season & Omit<Interval, 'kind'>> = rest;
  const { name, from, to, cron, start, keepMs, close } = fields;
  if (name === undefined && keepMs === undefined && close === undefined) return kind;
  return { kind, name, from, to, cron, start, keepMs, close: close && closeText(close) };
}

function closeText({ from, graceMs, reviewMs, results }: Close): Close {
  return { from, graceMs, reviewMs, results };
}

/** undefined when all fields are at their defaults. */
function publishText(publish: Publish) {
  const { windows, dimensions } = publish;
  const text = { ...withoutDefaults<PublishDefaults>(publish, PUBLISH), windows, dimensions };
  return Object.values(text).every((value) => value === undefined) ? undefined : text;
}

/** The fields that are not at their defaults, in the order of the defaults. */
function withoutDefaults<T extends object>(fields: T, defaults: T): Partial<T> {
  const names = Object.keys(defaults) as (keyof T)[];
  const changed = names.filter((name) => !isDeepStrictEqual(fields[name], defaults[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]])) as Partial<T>;
}

/**
 * A definition in the fields of a boards file, with all defaults, for parseBoardsFile to read back.
 * Times are in UTC. Leaves out `voids`, which no boards file has.
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
    ...(notAfter !== undefined && { notAfter: formatTime(notAfter) }),
    ...(deduplicateMs !== undefined && { deduplicate: durationText(deduplicateMs) }),
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

function columnFields({ min, max, from, ...rest }: Column) {
  return {
    ...rest,
    ...(min !== undefined && { min: formatDecimal(min, rest.decimals) }),
    ...(max !== undefined && { max: formatDecimal(max, rest.decimals) }),
    ...(from && { from }),
  };
}

function windowFields(window: Window) {
  const { kind } = window;
  if (kind === 'all') return kind;
  const ending = {
    ...(window.keepMs !== undefined && { keep: durationText(window.keepMs) }),
    ...(window.close && { close: closeFields(window.close) }),
  };
  switch (kind) {
    case 'season':
      return {
        season: window.name,
        from: formatTime(window.from),
        to: formatTime(window.to),
        ...ending,
      };
    case 'interval':
      return {
        interval: window.name,
        cron: window.cron,
        start: formatTime(window.start),
        ...ending,
      };
    default:
      return Object.keys(ending).length > 0 ? { window: kind, ...ending } : kind;
  }
}

function closeFields({ from, graceMs, reviewMs, results }: Close) {
  return {
    from: formatTime(from),
    grace: durationText(graceMs),
    review: reviewMs === 'manual' ? reviewMs : durationText(reviewMs),
    results,
  };
}

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/**
 * In the largest unit that divides the duration, because the schema limits the number of digits.
 */
function durationText(ms: number): string {
  const found = Object.entries(UNITS).find(([, length]) => ms > 0 && ms % length === 0);
  const [unit, length] = found ?? ['ms', 1];
  return `${ms / length}${unit}`;
}

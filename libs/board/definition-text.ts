import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BoardDefinition, Column, Publish, Window } from './definition.js';

/**
 * The one JSON text of a definition: equal definitions have equal texts, whichever version of ranklog writes them. So a
 * field that came later is there only when it is not at its default, and a default never changes.
 */
export function definitionText(definition: BoardDefinition): string {
  const { board, columns, ties, windows, dimensions, maxAheadMs } = definition;
  const { notAfter, deduplicateMs, publish } = definition;
  return JSON.stringify({
    board,
    columns: columns.map(columnText),
    ties,
    windows: windows.map(windowText),
    dimensions,
    maxAheadMs,
    ...unlessDefault<Later>(definition, LATER),
    notAfter,
    deduplicateMs,
    publish: publishText(publish),
  });
}

/** The definition of a text that definitionText wrote, in this version or an earlier one. */
export function parseDefinitionText(text: string): BoardDefinition {
  const { windows, publish, ...fields } = JSON.parse(text) as StoredDefinition;
  return {
    ...LATER,
    ...fields,
    windows: windows.map((window) =>
      typeof window === 'string' ? { kind: window } : { ...window },
    ),
    publish: { ...PUBLISH, ...publish },
  };
}

/** First 12 hex digits of the SHA-256 of the text. */
export function definitionHash(definition: BoardDefinition): string {
  return createHash('sha256').update(definitionText(definition)).digest('hex').slice(0, 12);
}

type Later = Pick<BoardDefinition, 'timeZone' | 'late' | 'maxViews'>;
const LATER: Later = { timeZone: 'UTC', late: 'deadLetter', maxViews: 10_000 };

type PlainPublish = Omit<Publish, 'windows' | 'dimensions'>;
const PUBLISH: PlainPublish = {
  rankChanges: 'every',
  ranks: ['ordinal'],
  overtook: 0,
  leaders: 0,
};

/** A definition as its text holds it. */
type StoredDefinition = Omit<BoardDefinition, 'windows' | 'publish' | keyof Later> &
  Partial<Later> & {
    readonly windows: readonly (Exclude<Window['kind'], 'season' | 'interval'> | Window)[];
    readonly publish?: Partial<Publish>;
  };

function columnText({ name, update, order, decimals, min, max, from }: Column) {
  const weights = from && Object.fromEntries(Object.entries(from).sort(byName));
  return { name, update, order, decimals, min, max, from: weights };
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}

/** `"week"`, or an object where there is more to say. */
function windowText(window: Window) {
  switch (window.kind) {
    case 'all':
      return window.kind;
    case 'season': {
      const { kind, name, from, to, keepMs } = window;
      return { kind, name, from, to, keepMs };
    }
    case 'interval': {
      const { kind, name, cron, start, keepMs } = window;
      return { kind, name, cron, start, keepMs };
    }
    default: {
      const { kind, keepMs } = window;
      return keepMs === undefined ? kind : { kind, keepMs };
    }
  }
}

/** undefined when everything is published as by default. */
function publishText(publish: Publish) {
  const { windows, dimensions } = publish;
  const text = { ...unlessDefault<PlainPublish>(publish, PUBLISH), windows, dimensions };
  return Object.values(text).every((value) => value === undefined) ? undefined : text;
}

/** The fields that have another value than the defaults, in the order of the defaults. */
function unlessDefault<T extends object>(fields: T, defaults: T): Partial<T> {
  const names = Object.keys(defaults) as (keyof T)[];
  const changed = names.filter((name) => !isDeepStrictEqual(fields[name], defaults[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]])) as Partial<T>;
}

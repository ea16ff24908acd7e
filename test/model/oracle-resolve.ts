import { windowName, type BoardDefinition, type Column, type ResolvedEvent } from '#board';
import type { ResolvedView, ScoreInput } from '#board';
import { instanceAt, isClosed } from './oracle-windows.js';

/** A score event as a producer sends it, with the timestamp of its record. */
export interface SentEvent {
  readonly input: ScoreInput;
  readonly timestamp: number;
}

/**
 * A score event resolved for a board: the event in the board's terms, or every reason why the board
 * refuses it.
 */
export interface PlainResolution {
  readonly event?: ResolvedEvent;
  readonly reasons: ReadonlySet<string>;
}

const LIMIT = 2n ** 53n - 1n;
const MOST_VIEWS = 256;
const [FIRST_MS, LAST_MS] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map((text) =>
  Date.parse(text),
) as [number, number];

/**
 * As resolvePlainly, of an event at a place in the log, whose views are none if this place or one
 * that the event retries is voided.
 */
export function resolvePlainlyAt(
  definition: BoardDefinition,
  sent: SentEvent,
  { partition, offset }: { readonly partition: number; readonly offset: number },
): PlainResolution {
  const { event, reasons } = resolvePlainly(definition, sent);
  const own = { partition, offset, timestamp: sent.timestamp };
  const places = [own, ...(sent.input.retryOf ?? [])].map((place) => JSON.stringify(place));
  const isVoided = (definition.voids ?? []).some((one) => places.includes(JSON.stringify(one)));
  return event !== undefined && isVoided
    ? { reasons, event: { ...event, views: [] } }
    : { reasons, ...(event && { event }) };
}

/**
 * Written from docs/reference/boards-file.md, with bigints, to check libs/board/resolve-event.ts.
 */
export function resolvePlainly(definition: BoardDefinition, sent: SentEvent): PlainResolution {
  const reasons = new Set<string>();
  const occurredAt = timeOf(definition, sent, reasons);
  const values = valuesOf(definition, sent, reasons);
  const all = viewsOf(definition, sent, occurredAt, reasons);
  const views = all.filter(({ closed }) => !closed).map(({ view }) => view);
  // Lateness is the last reason: it never hides another one.
  if (reasons.size === 0 && all.length > 0 && views.length === 0) reasons.add('WINDOW_CLOSED');
  if (reasons.size > 0) return { reasons };
  const { playerId, eventId } = sent.input;
  const event = { playerId, occurredAt, values, views };
  const named = definition.deduplicateMs !== undefined && eventId !== undefined;
  return { reasons, event: named ? { ...event, eventId } : event };
}

function timeOf(
  { maxAheadMs, notAfter = LAST_MS }: BoardDefinition,
  { input: { occurredAt }, timestamp }: SentEvent,
  reasons: Set<string>,
): number {
  const time = occurredAt ?? timestamp;
  if (time - timestamp > maxAheadMs) reasons.add('TOO_FAR_AHEAD');
  if (time > notAfter) reasons.add('TOO_FAR_AHEAD');
  if (time < FIRST_MS || time > LAST_MS) reasons.add('INVALID_TIME');
  return time;
}

function weightsOf({ name, from }: Column): ReadonlyMap<string, bigint> {
  const weights = Object.entries(from ?? { [name]: 1 });
  return new Map(weights.map(([input, weight]) => [input, BigInt(weight)]));
}

function valuesOf(
  { columns }: BoardDefinition,
  { input: { delta, deltas } }: SentEvent,
  reasons: Set<string>,
): (number | null)[] {
  const inputs = new Set(columns.flatMap((column) => [...weightsOf(column).keys()]));
  const [only] = inputs;
  if (delta !== undefined && inputs.size > 1) reasons.add('DELTA_NEEDS_ONE_COLUMN');
  const given = new Map(delta === undefined ? Object.entries(deltas ?? {}) : [[only!, delta]]);
  for (const name of given.keys()) if (!inputs.has(name)) reasons.add('UNKNOWN_COLUMN');
  return columns.map((column) => valueOf(column, given, reasons));
}

function valueOf(
  column: Column,
  given: ReadonlyMap<string, string>,
  reasons: Set<string>,
): number | null {
  const named = [...weightsOf(column)].filter(([input]) => given.has(input));
  if (named.length === 0) {
    if (column.update !== 'sum') reasons.add('MISSING_COLUMN');
    return null;
  }
  const products = named.map(([input, weight]) => {
    const minor = minorUnits(given.get(input)!, column.decimals, reasons);
    if (isBeyond(minor) || isBeyond(minor * weight)) reasons.add('OUT_OF_RANGE');
    return minor * weight;
  });
  const sum = products.reduce((total, product) => total + product, 0n);
  if (isBeyond(sum)) reasons.add('OUT_OF_RANGE');
  const { min, max } = column;
  if ((min !== undefined && sum < BigInt(min)) || (max !== undefined && sum > BigInt(max)))
    reasons.add('OUT_OF_BOUNDS');
  return Number(column.order === 'desc' ? -sum : sum);
}

function minorUnits(text: string, decimals: number, reasons: Set<string>): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (parts === null) {
    reasons.add('INVALID_NUMBER');
    return 0n;
  }
  const [, sign, whole = '', fraction = ''] = parts;
  if (fraction.length > decimals) reasons.add('TOO_MANY_DECIMALS');
  const minor = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  return sign === '-' ? -minor : minor;
}

function isBeyond(value: bigint): boolean {
  return value > LIMIT || value < -LIMIT;
}

interface PlainView {
  readonly view: ResolvedView;
  /** Whether the record comes too late for the window of the view. */
  readonly closed: boolean;
}

function viewsOf(
  definition: BoardDefinition,
  { input: { attributes }, timestamp }: SentEvent,
  time: number,
  reasons: Set<string>,
): PlainView[] {
  const views: PlainView[] = [];
  for (const names of definition.dimensions) {
    let places: string[] = [''];
    for (const name of names) {
      const value = attributes[name];
      if (value === undefined) reasons.add('MISSING_DIMENSION');
      const values = new Set(typeof value === 'string' ? [value] : value);
      places = places.flatMap((place) =>
        [...values].map((one) => `${place} ${name}=${encodeURIComponent(one)}`),
      );
    }
    views.push(...viewsIn(definition, { names, places }, { time, timestamp }));
  }
  if (views.length > MOST_VIEWS) reasons.add('TOO_MANY_VIEWS_OF_AN_EVENT');
  return views;
}

function viewsIn(
  definition: BoardDefinition,
  { names, places }: { readonly names: readonly string[]; readonly places: readonly string[] },
  { time, timestamp }: { readonly time: number; readonly timestamp: number },
): PlainView[] {
  const { windows, dimensions } = definition.publish;
  const shownHere = dimensions?.some((shown) => shown.join() === names.join()) ?? true;
  return definition.windows.flatMap((window) => {
    const instance = instanceAt(window, time, definition);
    if (instance === undefined) return [];
    const keepMs = window.kind === 'all' ? undefined : window.keepMs;
    const closed = isClosed(window, instance, timestamp);
    return places.map((place) => {
      const view = {
        view: instance.text + place,
        expiresAt: keepMs === undefined ? null : instance.end + keepMs,
        published: shownHere && (windows?.includes(windowName(window)) ?? true),
      };
      return { view, closed };
    });
  });
}

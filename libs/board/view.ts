import { MalformedViewError, RejectedEventError } from './board-errors.js';
import { derived, windowName, type BoardDefinition, type Window } from './definition.js';
import { formatTime } from './time.js';
import { windowsAt, type WindowInstance } from './windows.js';

/**
 * One ranking of a board: a window instance, and a value for each attribute of one dimension, in
 * the definition's order.
 */
export interface View {
  /** The text of a WindowInstance, such as `all` or `week:2026-W47`. */
  readonly window: string;
  readonly where: readonly (readonly [name: string, value: string])[];
}

/** Attributes of an event. An event with several values of one moves the views of each value. */
export type Attributes = Readonly<Record<string, string | readonly string[]>>;

/** A view that an event moves. `expiresAt` is in ms of the board's event clock; null: never. */
export interface ResolvedView {
  readonly view: string;
  readonly expiresAt: number | null;
  readonly published: boolean;
}

export const MAX_VIEWS_OF_AN_EVENT = 256;

/**
 * `all league=en.1 season=2019-20`: the text of a view in keys, events and commands.
 * @throws MalformedViewError for a lone surrogate, which no event can have
 */
export function formatView({ window, where }: View): string {
  const unknown = where.find(([, value]) => !value.isWellFormed());
  if (unknown !== undefined) throw new MalformedViewError(`${window} ${unknown.join('=')}`);
  return window + where.map(([name, value]) => ` ${name}=${encodeURIComponent(value)}`).join('');
}

/**
 * The view that a text names. Its values may be encoded otherwise than formatView does: other
 * encoders also escape `'()!*`, write hex digits in lower case, or leave `/`.
 * @throws MalformedViewError
 */
export function parseView(text: string): View {
  const [window = '', ...pairs] = text.split(' ');
  if (!WINDOW.test(window)) throw new MalformedViewError(text);
  return { window, where: pairs.map((pair) => parsePair(pair, text)) };
}

/**
 * The text of a view as formatView writes it. Keys, results and comparisons use only this text.
 * @throws MalformedViewError
 */
export function canonicalView(text: string): string {
  return formatView(parseView(text));
}

/** Printable ASCII. */
const WINDOW = /^[\x21-\x7e]+$/;
/** Without `+`, which some encoders write for a space, and `=`. */
const PAIR = /^([\x21-\x3c\x3e-\x7e]+)=([\x21-\x2a\x2c-\x3c\x3e-\x7e]*)$/;

function parsePair(pair: string, text: string): readonly [string, string] {
  const [, name, value] = PAIR.exec(pair) ?? [];
  if (name === undefined || value === undefined) throw new MalformedViewError(text);
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    throw new MalformedViewError(text);
  }
}

type Windows = readonly (WindowInstance | undefined)[];

/**
 * Caches the lists of views for the windows of the last event, by the values of the dimensions. The
 * lists hold for records with a timestamp later than `after`, up to `until`: by all of these
 * timestamps, the same windows have closed.
 */
const recentLists = derived(({ dimensions }) => ({
  names: [...new Set(dimensions.flat())],
  windows: [] as Windows,
  after: -Infinity,
  until: Infinity,
  lists: new Map<string, readonly ResolvedView[]>(),
}));
const MAX_RECENT_LISTS = 1_000;

/**
 * The views that an event moves, without the views whose window had closed by the timestamp (ms) of
 * the record. Events of the same windows and dimension values get the same list, as one object:
 * most events are like an earlier one.
 * Cost: as windowsAt; for a list that is not cached, also linear in the views.
 * @throws RejectedEventError
 */
export function viewsOf(
  definition: BoardDefinition,
  attributes: Attributes,
  time: number,
  recordTimestamp: number,
): readonly ResolvedView[] {
  const windows = windowsAt(definition, time);
  const recent = recentLists(definition);
  const isRecent = recordTimestamp > recent.after && recordTimestamp <= recent.until;
  if (windows !== recent.windows || !isRecent) {
    const { after, until } = timestampsLike(recordTimestamp, windows);
    recent.windows = windows;
    recent.after = after;
    recent.until = until;
    recent.lists.clear();
  }
  if (recent.lists.size >= MAX_RECENT_LISTS) recent.lists.clear();

  const valueOf = (name: string) => (Object.hasOwn(attributes, name) ? attributes[name] : null);
  const key = recent.names.length === 0 ? '' : JSON.stringify(recent.names.map(valueOf));
  const known = recent.lists.get(key);
  if (known !== undefined) return known;

  const list = listViews(definition, attributes, windows, recordTimestamp);
  recent.lists.set(key, list);
  return list;
}

/** By timestamps later than `after`, up to `until`, the same windows have closed. */
function timestampsLike(recordTimestamp: number, windows: Windows) {
  const closings = windows.flatMap((instance) => instance?.closesAt ?? []);
  return {
    after: Math.max(...closings.filter((time) => time < recordTimestamp)),
    until: Math.min(...closings.filter((time) => time >= recordTimestamp)),
  };
}

/**
 * Closed windows count for the limit, so that a late event is refused for its other faults first.
 */
function listViews(
  definition: BoardDefinition,
  attributes: Attributes,
  windows: Windows,
  recordTimestamp: number,
): ResolvedView[] {
  const instances = windows.filter((instance) => instance !== undefined).length;
  const parts = publishedParts(definition);
  const views: ResolvedView[] = [];
  let total = 0;
  for (const [dimensionIndex, names] of definition.dimensions.entries()) {
    const lists = names.map((name) => valuesOf(definition.board, name, attributes));
    total += lists.reduce((product, list) => product * list.length, instances);
    if (total > MAX_VIEWS_OF_AN_EVENT)
      throw new RejectedEventError(
        'TOO_MANY_VIEWS_OF_AN_EVENT',
        `the event would move more than ${MAX_VIEWS_OF_AN_EVENT} views of board ` +
          `"${definition.board}"; send fewer values in its attributes`,
      );

    const places = combinations(names, lists);
    for (const [windowIndex, instance] of windows.entries()) {
      if (instance === undefined || hasClosed(instance, recordTimestamp)) continue;
      const { text, expiresAt } = instance;
      const published =
        parts.windows[windowIndex] === true && parts.dimensions[dimensionIndex] === true;
      for (const place of places) views.push({ view: text + place, expiresAt, published });
    }
  }
  if (views.length === 0 && total > 0) throw closedError(definition, windows, recordTimestamp);
  return views;
}

/** Unlike expiry, this depends on the record alone, so that every build agrees. */
function hasClosed({ closesAt }: WindowInstance, recordTimestamp: number): boolean {
  return closesAt !== null && recordTimestamp > closesAt;
}

function closedError(
  { board }: BoardDefinition,
  windows: Windows,
  recordTimestamp: number,
): RejectedEventError {
  const closed = windows.flatMap((instance) => {
    if (instance === undefined || instance.closesAt === null) return [];
    const { text, end, closesAt } = instance;
    return `${text} (end ${formatTime(end)}, grace ${closesAt - end} ms)`;
  });
  return new RejectedEventError(
    'WINDOW_CLOSED',
    `the record's timestamp ${formatTime(recordTimestamp)} is after the grace of all windows ` +
      `of board "${board}" that the event is in: ${closed.join(', ')}`,
  );
}

function valuesOf(board: string, name: string, attributes: Attributes): readonly string[] {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (value === undefined)
    throw new RejectedEventError(
      'MISSING_DIMENSION',
      `the attribute "${name}" is missing; board "${board}" is ranked by it`,
    );
  return typeof value === 'string' ? [value] : [...new Set(value)];
}

/** ` name=value ...` for each choice of values; the value of the last name changes fastest. */
function combinations(names: readonly string[], lists: readonly (readonly string[])[]): string[] {
  let places = [''];
  for (const [index, name] of names.entries())
    places = places.flatMap((place) =>
      (lists[index] ?? []).map((value) => `${place} ${name}=${encodeURIComponent(value)}`),
    );
  return places;
}

/** Whether rank changes of a view are published. `view` is the text of a view of this board. */
export function publishesView(definition: BoardDefinition, view: string): boolean {
  return definition.publish.rankChanges !== 'none' && isPublished(definition, view);
}

/** Whether a board publishes changes of a view: of its ranks, its leaders, or both. */
export function isPublished(definition: BoardDefinition, view: string): boolean {
  const { window, where } = parseView(view);
  const names = where.map(([name]) => name).join(' ');
  const windowIndex = definition.windows.findIndex((known) => isInstance(window, known));
  const dimensionIndex = definition.dimensions.findIndex((list) => list.join(' ') === names);
  const parts = publishedParts(definition);
  return parts.windows[windowIndex] === true && parts.dimensions[dimensionIndex] === true;
}

/** The window whose instance a text names, such as `week:2026-W47`. */
export function windowOf(definition: BoardDefinition, text: string): Window | undefined {
  return definition.windows.find((window) => isInstance(text, window));
}

/**
 * Whether a text names an instance of a window: `season:x`, `week:2026-W47` or
 * `interval:x@2026-11-20T00:00:00Z`.
 */
function isInstance(text: string, window: Window): boolean {
  const name = windowName(window);
  return text === name || text.startsWith(name + (window.kind === 'interval' ? '@' : ':'));
}

/** Which windows and which dimensions are published, by their index in the definition. */
const publishedParts = derived(({ windows, dimensions, publish }) => {
  const wanted = publish.dimensions?.map((names) => names.join(' '));
  return {
    windows: windows.map((window) => publish.windows?.includes(windowName(window)) ?? true),
    dimensions: dimensions.map((names) => wanted?.includes(names.join(' ')) ?? true),
  };
});

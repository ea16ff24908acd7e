import { windowName, type BoardDefinition, type Window } from './definition.js';
import { EARLIEST_TIME } from './sort-key.js';
import { formatView, parseView, type View } from './view.js';
import { parseWindow, windowsAt, type WindowInstance } from './windows.js';

/** A view that a board can have. `expiresAt` is in ms of the board's event clock; null: never. */
export interface ReadableView {
  readonly view: string;
  readonly expiresAt: number | null;
}

/** A view that the definition can't have. `known` is what could stand in place of `asked`, instances of a window aside. */
export class NoSuchViewError extends Error {
  constructor(
    readonly board: string,
    message: string,
    readonly asked: string,
    readonly known: readonly string[],
  ) {
    super(`board "${board}" ${message}`);
    this.name = 'NoSuchViewError';
  }
}

/** `current` or `previous` where there is none: an interval that has not begun, the first one. `at` is ms. */
export class NoInstanceError extends Error {
  constructor(
    readonly board: string,
    readonly window: string,
    readonly at: number,
  ) {
    super(`board "${board}" has no ${window} at ${new Date(at).toISOString()}`);
    this.name = 'NoInstanceError';
  }
}

/**
 * The view that a reader means at a time (ms). `window` may be relative: `week` and `week:current`, `week:previous`,
 * `interval:contest` and `interval:contest@current`, `interval:contest@previous`; `where` comes in any order.
 * @throws NoSuchViewError, NoInstanceError
 */
export function viewToRead(
  definition: BoardDefinition,
  { window, where }: View,
  at: number,
): ReadableView {
  const instance =
    parseWindow(definition, window)?.instance ?? relativeInstance(definition, window, at);
  if (instance === undefined) throw noSuchWindow(definition, window);
  return readable(definition, instance, where);
}

/** The view of a text whose window is absolute. @throws MalformedViewError, NoSuchViewError */
export function readableView(definition: BoardDefinition, text: string): ReadableView {
  const { window, where } = parseView(text);
  const parsed = parseWindow(definition, window);
  if (parsed === undefined) throw noSuchWindow(definition, window);
  return readable(definition, parsed.instance, where);
}

function readable(
  definition: BoardDefinition,
  { text, expiresAt }: WindowInstance,
  where: View['where'],
): ReadableView {
  return { view: formatView({ window: text, where: inOrder(definition, where) }), expiresAt };
}

/** undefined for a text that is no `current` or `previous` of the board's windows. */
function relativeInstance(
  definition: BoardDefinition,
  text: string,
  at: number,
): WindowInstance | undefined {
  for (const [index, window] of definition.windows.entries()) {
    const { current, previous } = relativeNames(window);
    if (!current.includes(text) && previous !== text) continue;
    const now = windowsAt(definition, at)[index];
    const wanted = previous === text ? before(definition, index, now) : now;
    if (wanted === undefined) throw new NoInstanceError(definition.board, text, at);
    return wanted;
  }
  return undefined;
}

/** The instance that ends where this one starts. */
function before(
  definition: BoardDefinition,
  index: number,
  instance: WindowInstance | undefined,
): WindowInstance | undefined {
  if (instance === undefined || instance.start <= EARLIEST_TIME) return undefined;
  return windowsAt(definition, instance.start - 1)[index];
}

/** What may be said in place of an absolute name; `all` and seasons have no other. */
function relativeNames(window: Window): { current: readonly string[]; previous?: string } {
  if (window.kind === 'all' || window.kind === 'season') return { current: [] };
  const name = windowName(window);
  const mark = window.kind === 'interval' ? '@' : ':';
  return { current: [name, `${name}${mark}current`], previous: `${name}${mark}previous` };
}

function noSuchWindow({ board, windows }: BoardDefinition, asked: string): NoSuchViewError {
  const names = windows.map((window) => {
    const { current, previous } = relativeNames(window);
    const named = current.length === 0 ? [windowName(window)] : current;
    return previous === undefined ? named : [...named, previous];
  });
  const forms = windows.flatMap((window, index) => [
    ...(names[index] ?? []),
    ...absoluteExample(window),
  ]);
  const problem = `has no window ${JSON.stringify(asked)}; write ${forms.join(', ')}`;
  return new NoSuchViewError(board, problem, asked, names.flat());
}

/** How an instance is named; nothing for windows that have but one. */
function absoluteExample(window: Window): string[] {
  switch (window.kind) {
    case 'day':
      return ['day:2026-11-20'];
    case 'week':
      return ['week:2026-W47'];
    case 'month':
      return ['month:2026-11'];
    case 'year':
      return ['year:2026'];
    case 'interval':
      return [`${windowName(window)}@2026-11-20T17:00:00Z`];
    default:
      return [];
  }
}

/** Names and values in the definition's order. */
function inOrder(definition: BoardDefinition, where: View['where']): View['where'] {
  const given = new Map(where);
  const names = definition.dimensions.find(
    (dimension) => dimension.length === where.length && dimension.every((name) => given.has(name)),
  );
  if (names === undefined)
    throw noSuchDimensions(
      definition,
      where.map(([name]) => name),
    );
  return names.map((name) => [name, given.get(name) ?? ''] as const);
}

function noSuchDimensions(
  { board, dimensions }: BoardDefinition,
  given: readonly string[],
): NoSuchViewError {
  const known = dimensions.map((names) => names.join(' and '));
  const asked = given.join(' and ');
  const problem = asked === '' ? 'has no overall ranking' : `is not ranked by ${asked}`;
  const ranked = known.map((names) => (names === '' ? 'overall (no dimensions)' : names));
  return new NoSuchViewError(
    board,
    `${problem}; it is ranked: ${ranked.join('; ')}`,
    asked,
    known.filter((names) => names !== ''),
  );
}

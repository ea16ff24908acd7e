import { NoInstanceError, NoSuchViewError } from './board-errors.js';
import { windowName, type BoardDefinition, type Window } from './definition.js';
import { EARLIEST_TIME } from './time.js';
import { formatView, parseView, type ResolvedView, type View } from './view.js';
import { parseWindow, windowsAt, type WindowInstance } from './windows.js';

/** A view that readers of a board can name. */
export type ReadableView = Omit<ResolvedView, 'published'>;

/**
 * The view that a reader asks for at a time (ms). `window` can be relative: `week`, `week:current`,
 * `week:previous`, `interval:contest`, `interval:contest@current`, `interval:contest@previous`.
 * `where` can be in any order.
 * @throws NoSuchViewError, NoInstanceError
 */
export function viewToRead(definition: BoardDefinition, { window, where }: View, at: number) {
  const instance = parseWindow(definition, window) ?? relativeInstance(definition, window, at);
  return readable(definition, { window, where }, instance);
}

/**
 * The view that a text names; its window must be absolute.
 * @throws MalformedViewError, NoSuchViewError
 */
export function readableView(definition: BoardDefinition, text: string): ReadableView {
  const view = parseView(text);
  return readable(definition, view, parseWindow(definition, view.window));
}

function readable(
  definition: BoardDefinition,
  { window, where }: View,
  instance: WindowInstance | undefined,
): ReadableView {
  if (instance === undefined) throw noSuchWindow(definition, window);
  const view = formatView({ window: instance.text, where: inOrder(definition, where) });
  return { view, expiresAt: instance.expiresAt };
}

/**
 * The current or previous instance that a text names; undefined if the text names none.
 * @throws NoInstanceError
 */
function relativeInstance(definition: BoardDefinition, text: string, at: number) {
  for (const [index, window] of definition.windows.entries()) {
    const [name, currentName, previousName] = namesOf(window);
    if (text !== name && text !== currentName && text !== previousName) continue;

    const current = windowsAt(definition, at)[index];
    const instance = text === previousName ? instanceBefore(definition, index, current) : current;
    if (instance === undefined) throw new NoInstanceError(definition.board, text, at);
    return instance;
  }
  return undefined;
}

/** The instance of a window before another instance of it; undefined if there is none. */
function instanceBefore(
  definition: BoardDefinition,
  windowIndex: number,
  instance: WindowInstance | undefined,
): WindowInstance | undefined {
  if (instance === undefined || instance.start <= EARLIEST_TIME) return undefined;
  return windowsAt(definition, instance.start - 1)[windowIndex];
}

/**
 * Two names of the current instance, then one of the previous one. `all` and a season have one
 * instance, with one name.
 */
function namesOf(window: Window): readonly string[] {
  const name = windowName(window);
  if (window.kind === 'all' || window.kind === 'season') return [name];
  const mark = window.kind === 'interval' ? '@' : ':';
  return [name, `${name}${mark}current`, `${name}${mark}previous`];
}

const INSTANCE_EXAMPLES = {
  all: '',
  season: '',
  day: ':2026-11-20',
  week: ':2026-W47',
  month: ':2026-11',
  year: ':2026',
  interval: '@2026-11-20T17:00:00Z',
};

function noSuchWindow({ board, windows }: BoardDefinition, asked: string): NoSuchViewError {
  const forms = windows.flatMap((window) => {
    const names = namesOf(window);
    const example = INSTANCE_EXAMPLES[window.kind];
    return example === '' ? names : [...names, windowName(window) + example];
  });
  const problem = `has no window ${JSON.stringify(asked)}; write ${forms.join(', ')}`;
  return new NoSuchViewError(board, problem, asked, windows.flatMap(namesOf));
}

function inOrder({ board, dimensions }: BoardDefinition, where: View['where']): View['where'] {
  const given = new Map(where);
  const names = dimensions.find(
    (dimension) => dimension.length === where.length && dimension.every((name) => given.has(name)),
  );
  if (names !== undefined) return names.map((name) => [name, given.get(name) ?? ''] as const);

  const asked = where.map(([name]) => name).join(' and ');
  const known = dimensions.map((dimension) => dimension.join(' and '));
  const ranked = known.map((text) => (text === '' ? 'overall (no dimensions)' : text));
  const problem = asked === '' ? 'has no overall ranking' : `is not ranked by ${asked}`;
  throw new NoSuchViewError(
    board,
    `${problem}; it is ranked: ${ranked.join('; ')}`,
    asked,
    known.filter((text) => text !== ''),
  );
}

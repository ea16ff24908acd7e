import {
  definitionHash,
  derived,
  EARLIEST_TIME,
  isState,
  LATEST_TIME,
  parseView,
  readableView,
  viewToRead,
  windowName,
  type BoardDefinition,
  type ReadableView,
} from '#board';
import { InvalidReadError } from '../layout/store-errors.js';

/**
 * Which view of a board to read. By default the overall ranking of the window `all`, or of the
 * board's first window.
 */
export interface ViewSelection {
  /**
   * A view as results and listings name it, such as `week:2026-W47 region=eu`. It excludes `window`
   * and `where`.
   */
  readonly view?: string | undefined;
  /**
   * `week`, `week:current`, `week:previous`, `week:2026-W47`, `season:NAME`,
   * `interval:NAME@current`.
   */
  readonly window?: string | undefined;
  /** A value for each dimension of the ranking: `{ region: 'eu' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** The time that `current` and `previous` refer to, by default now. A number is ms since 1970. */
  readonly at?: Date | number | undefined;
}

/** A value as an error shows it: a text in quotes. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return (Array.isArray(value) ? JSON.stringify(value) : String(value)).slice(0, 80);
}

/**
 * Arguments may come from a URL: there, `?window=day&window=week` is a list.
 * @throws InvalidReadError
 */
export function requireText(argument: string, value: unknown): void {
  if (typeof value !== 'string') throw new InvalidReadError(argument, `${shown(value)} is no text`);
}

/** @throws InvalidReadError */
export function requireList(argument: string, value: unknown): void {
  if (!Array.isArray(value)) throw new InvalidReadError(argument, `${shown(value)} is no list`);
}

/** @throws InvalidReadError */
function requireTexts({ view, window, where = {} }: ViewSelection): void {
  if (view !== undefined) requireText('view', view);
  if (window !== undefined) requireText('window', window);
  if (typeof where !== 'object' || Array.isArray(where))
    throw new InvalidReadError('where', `${shown(where)} is no object with a value by dimension`);
  for (const [name, value] of Object.entries(where)) requireText(`where.${name}`, value);
}

/** @throws NoSuchViewError, NoInstanceError, MalformedViewError, InvalidReadError */
export function selectedView(definition: BoardDefinition, selection: ViewSelection): ReadableView {
  requireTexts(selection);
  const { view, window, where = {}, at = Date.now() } = selection;
  const isNamed = window !== undefined || Object.keys(where).length > 0;
  if (view !== undefined && isNamed)
    throw new InvalidReadError(
      'view',
      'excludes window and where; leave out the one or the others',
    );
  const time = Number(at);
  if (!Number.isInteger(time) || time < EARLIEST_TIME || time > LATEST_TIME)
    throw new InvalidReadError('at', `${shown(at)} is not a time in the years 0001 to 9999`);
  const asked =
    view === undefined
      ? { window: window ?? defaultWindow(definition), where: Object.entries(where) }
      : parseView(view);
  return viewToRead(definition, asked, time);
}

/**
 * Checks the dimensions that come with a cursor of a view: a misspelt one should not go unnoticed,
 * although the view is that of the cursor.
 * @throws NoSuchViewError
 */
export function checkDimensions(
  definition: BoardDefinition,
  view: string,
  { where = {} }: ViewSelection,
): void {
  if (Object.keys(where).length === 0) return;
  selectedView(definition, { window: parseView(view).window, where });
}

function defaultWindow({ windows }: BoardDefinition): string {
  const window = windows.find(({ kind }) => kind === 'all') ?? windows[0];
  return window === undefined ? 'all' : windowName(window);
}

/** Where a page begins: see lua/commands/page-10.lua. */
export type Anchor = readonly [
  name: 'position' | 'share' | 'player' | 'behind' | 'columns',
  ...arguments: (string | number | Buffer)[],
];

/** The best and the worst value of the first column in sort direction, '' for none. */
export type Bounds = readonly [best: string, worst: string];

/**
 * Where a page ended: the state (libs/board/state.ts) and id of its last player, and the range of
 * scores that it was of.
 */
export interface PageEnd {
  readonly view: string;
  readonly state: Buffer;
  readonly playerId: string;
  readonly bounds: Bounds;
}

const hashOf = derived(definitionHash);

/**
 * A cursor for the page after a player. It names the view, and the definition, as a state means
 * nothing to another one.
 */
export function cursorAfter(definition: BoardDefinition, end: PageEnd): string {
  const { view, state, playerId, bounds } = end;
  return encodeCursor([hashOf(definition), view, state.toString('hex'), playerId, ...bounds]);
}

/** @throws InvalidReadError if the cursor is of another definition, or no cursor */
export function pageEndOf(definition: BoardDefinition, cursor: string) {
  const [hash, view, stateHex, playerId, ...bounds] = decodeCursor<CursorWords>(cursor, 6);
  const state = Buffer.from(stateHex, 'hex');
  const isOurs = isState(state, definition.columns.length);
  if (hash !== hashOf(definition) || !isOurs || !bounds.every(isBound))
    throw new InvalidReadError(
      'after',
      `the cursor is not of board "${definition.board}" as it is now defined; begin with the ` +
        'first page',
    );
  const end: PageEnd = { view, state, playerId, bounds };
  return { end, readable: readableView(definition, view) };
}

type CursorWords = [hash: string, view: string, state: string, playerId: string, ...Bounds];

/** Whether words of a cursor have the right form, so that no script fails on them. */
const isBound = (word: string) => /^(-?\d{1,16})?$/.test(word);

export function encodeCursor(words: readonly string[]): string {
  return Buffer.from(JSON.stringify(words)).toString('base64url');
}

/** @throws InvalidReadError unless the text is a cursor of so many words */
export function decodeCursor<Words extends string[]>(text: string, length: Words['length']): Words {
  try {
    const words: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isCursor = Array.isArray(words) && words.length === length;
    if (isCursor && words.every((word) => typeof word === 'string')) return words as Words;
  } catch {
    // not JSON
  }
  throw new InvalidReadError(
    'after',
    `${JSON.stringify(text)} is not a cursor; pass on "next" as it came`,
  );
}

/**
 * What a scan is of (a view or a generation), the server and the cursor of Redis.
 * @throws InvalidReadError
 */
export function scanCursor(text: string): [of: string, server: string, cursor: string] {
  const words = decodeCursor<[string, string, string]>(text, 3);
  if (/^\d{1,19}$/.test(words[2])) return words;
  throw new InvalidReadError('after', 'the cursor is not of this read');
}

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
 * The view of a board to read. By default the overall ranking of the window `all`, or of the
 * board's first window.
 */
export interface ViewSelection {
  /** A view such as `week:2026-W47 region=eu`. Excludes `window` and `where`. */
  readonly view?: string | undefined;
  /** Such as `week`, `week:previous`, `week:2026-W47`, `season:NAME`, `interval:NAME@current`. */
  readonly window?: string | undefined;
  /** A value for each dimension of the ranking: `{ region: 'eu' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** The time that `current` and `previous` refer to, by default now. A number is ms since 1970. */
  readonly at?: Date | number | undefined;
}

/** A value in the form for an error: a text in quotes, cut if it is long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return (Array.isArray(value) ? JSON.stringify(value) : String(value)).slice(0, 80);
}

/**
 * Checks an argument that may come from a URL, where `?window=day&window=week` is a list.
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

  if (view !== undefined) return viewToRead(definition, parseView(view), time);
  const selected = { window: window ?? defaultWindow(definition), where: Object.entries(where) };
  return viewToRead(definition, selected, time);
}

/**
 * Checks the dimensions in a request that has a cursor. The view comes from the cursor, but a
 * misspelt dimension should be reported.
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

/** The best and the worst value of the first column in sort direction; '' for no bound. */
export type Bounds = readonly [best: string, worst: string];

/**
 * Where a page ended: the state (libs/board/state.ts) and id of its last player, and the range of
 * scores of its request.
 */
interface PageEnd {
  readonly view: string;
  readonly state: Buffer;
  readonly playerId: string;
  readonly bounds: Bounds;
}

const hashOf = derived(definitionHash);

/**
 * A cursor for the page after a player. It names the view and the definition, because another
 * definition can't read the state.
 */
export function cursorAfter(definition: BoardDefinition, end: PageEnd): string {
  const { view, state, playerId, bounds } = end;
  return encodeCursor([hashOf(definition), view, state.toString('hex'), playerId, ...bounds]);
}

/** @throws InvalidReadError unless the text is a cursor of this definition */
export function pageEndOf(definition: BoardDefinition, cursor: string) {
  const [hash, view, stateHex, playerId, ...bounds] = decodeCursor<CursorWords>(cursor, 6);
  const state = Buffer.from(stateHex, 'hex');
  const isCurrent = hash === hashOf(definition);
  const isReadable = isState(state, definition.columns.length) && bounds.every(isBound);
  if (!isCurrent || !isReadable)
    throw new InvalidReadError(
      'after',
      `the cursor is not of board "${definition.board}" as it is now defined; begin with the ` +
        'first page',
    );
  const end: PageEnd = { view, state, playerId, bounds };
  return { end, readable: readableView(definition, view) };
}

type CursorWords = [hash: string, view: string, state: string, playerId: string, ...Bounds];

/** Whether a word of a cursor is a bound, so that no script fails on it. */
function isBound(word: string): boolean {
  return /^(-?\d{1,16})?$/.test(word);
}

export function encodeCursor(words: readonly string[]): string {
  return Buffer.from(JSON.stringify(words)).toString('base64url');
}

/** @throws InvalidReadError unless the text is a cursor with this number of words */
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
 * Where a scan continues: the scanned view or generation, the server, and the cursor of Redis.
 * @throws InvalidReadError
 */
export function scanCursor(text: string): ScanCursor {
  const words = decodeCursor<ScanCursor>(text, 3);
  const cursor = words[2];
  if (/^\d{1,19}$/.test(cursor)) return words;
  throw new InvalidReadError('after', 'the cursor is not of this read');
}

type ScanCursor = [scanned: string, server: string, cursor: string];

import {
  definitionHash,
  derived,
  parseView,
  readableView,
  viewToRead,
  windowName,
  type BoardDefinition,
  type ReadableView,
} from '#board';
import { InvalidReadError } from './errors.js';

/** Which view of a board to read. By default the overall ranking of the window `all`, or of the board's first window. */
export interface ViewSelection {
  /** A view as results and listings name it, such as `week:2026-W47 region=eu`. It excludes `window` and `where`. */
  readonly view?: string | undefined;
  /** `week`, `week:current`, `week:previous`, `week:2026-W47`, `season:NAME`, `interval:NAME@current`. */
  readonly window?: string | undefined;
  /** A value for each dimension of the ranking: `{ region: 'eu' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** The time that `current` and `previous` refer to, by default now. A number is ms since 1970. */
  readonly at?: Date | number | undefined;
}

/** @throws NoSuchViewError, NoInstanceError, MalformedViewError, InvalidReadError */
export function selectedView(
  definition: BoardDefinition,
  { view, window, where = {}, at = Date.now() }: ViewSelection,
): ReadableView {
  const isNamed = window !== undefined || Object.keys(where).length > 0;
  if (view !== undefined && isNamed)
    throw new InvalidReadError(
      'view',
      'excludes window and where; leave out the one or the others',
    );
  const time = Number(at);
  if (Number.isNaN(time)) throw new InvalidReadError('at', 'is not a time');
  const selection =
    view === undefined
      ? { window: window ?? defaultWindow(definition), where: Object.entries(where) }
      : parseView(view);
  return viewToRead(definition, selection, time);
}

function defaultWindow({ windows }: BoardDefinition): string {
  const window = windows.find(({ kind }) => kind === 'all') ?? windows[0];
  return window === undefined ? 'all' : windowName(window);
}

/** Where a page begins: see lua/commands/page-10.lua. */
export type Anchor = readonly [
  name: 'position' | 'share' | 'player' | 'behind' | 'columns',
  ...arguments: (string | number)[],
];
export interface PageStart extends ReadableView {
  readonly anchor: Anchor;
}

/** @throws the errors of selectedView */
export function startOf(
  definition: BoardDefinition,
  selection: ViewSelection,
  anchor: Anchor,
): PageStart {
  return { ...selectedView(definition, selection), anchor };
}

const hashOf = derived(definitionHash);

/**
 * A cursor for the page after a player with a state (libs/board/state.ts). It names the view, and the definition, as a state
 * means nothing to another one.
 */
export function cursorAfter(
  definition: BoardDefinition,
  view: string,
  state: string,
  playerId: string,
): string {
  return encodeCursor([hashOf(definition), view, state, playerId]);
}

/** @throws InvalidReadError if the cursor is of another definition, or no cursor */
export function startAfter(definition: BoardDefinition, cursor: string): PageStart {
  const [hash, view, state, playerId] = decodeCursor<[string, string, string, string]>(cursor, 4);
  const words = state.split(' ');
  if (
    hash !== hashOf(definition) ||
    words.length !== definition.columns.length ||
    !words.every(isWord)
  )
    throw new InvalidReadError(
      'after',
      `the cursor is not of board "${definition.board}" as it is now defined; begin with the first page`,
    );
  return { ...readableView(definition, view), anchor: ['behind', playerId, state] };
}

/** Whether a word of a state has the right form, so that no script fails on it. */
const isWord = (word: string) => /^-?\d{1,16}[@~]-?\d{1,15}$/.test(word);

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

/** The view, the server and the cursor of Redis in the cursor of a search. @throws InvalidReadError */
export function searchCursor(text: string): [view: string, server: string, cursor: string] {
  const words = decodeCursor<[string, string, string]>(text, 3);
  if (/^\d{1,20}$/.test(words[2])) return words;
  throw new InvalidReadError('after', 'the cursor is not of a search');
}

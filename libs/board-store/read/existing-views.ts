import { InvalidReadError, ListingInterruptedError } from '../layout/errors.js';
import { rowsOf } from '../lua/scripts.js';
import { encodeCursor, scanCursor } from './view-selection.js';

/** A view with its number of players. `expiresAt` is in ms of the board's event clock; null: never. */
export interface ViewSummary {
  readonly view: string;
  readonly version: number;
  readonly expiresAt: number | null;
  readonly size: number;
}

/** Some of the views of a board, ordered by their text. */
export interface ViewsPage {
  readonly stale: boolean;
  readonly views: readonly ViewSummary[];
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

/** One step of a listing. `cursor` is for the next step, in this generation, on this server; FIRST_CURSOR: no step is left. */
export interface ViewsStep extends Omit<ViewsPage, 'next'> {
  readonly generation: string;
  readonly server: string;
  readonly cursor: string;
}

const FIRST_CURSOR = '0';

/** A page ends with the step that reaches this number of views. */
const PAGE = 10_000;

/** Reads a reply of lua/commands/views-9.lua; leaves out expired views. */
export function viewsStepOf(reply: readonly string[], generation: string) {
  const [stale, server = '', cursor = '', clockText = '', floor, ...words] = reply;
  const clock = clockText === '' ? -Infinity : Number(clockText);
  const views = rowsOf(words, 3).map(([view = '', version = '', end]) => ({
    view,
    version: Math.max(Number(version), Number(floor ?? 0)),
    expiresAt: end === '' ? null : Number(end),
  }));
  const existing = views.filter(({ expiresAt }) => expiresAt === null || expiresAt > clock);
  return { generation, server, cursor, stale: Number(stale) === 1, views: existing };
}

/**
 * Joins the steps of a listing into pages; only the first can be empty. HSCAN may repeat views of the previous step when the hash
 * table shrinks, so a page drops views that it, or the page before it, already has. `after` is the cursor of another listing.
 * @throws ListingInterruptedError, InvalidReadError
 */
export async function* pagesOf(
  board: string,
  read: (cursor: string) => Promise<ViewsStep>,
  after?: string,
): AsyncGenerator<ViewsPage> {
  const given = after === undefined ? undefined : scanCursor(after);
  const first = await read(given?.[2] ?? FIRST_CURSOR);
  if (given !== undefined && (first.generation !== given[0] || first.server !== given[1]))
    throw new InvalidReadError('after', 'the cursor is not of the live views; list them again');
  let before = new Map<string, ViewSummary>();
  let page = new Map<string, ViewSummary>();
  for (let step = first; ; step = await read(step.cursor)) {
    if (step.generation !== first.generation || step.server !== first.server)
      throw new ListingInterruptedError(board);
    for (const view of step.views) if (!before.has(view.view)) page.set(view.view, view);
    const isLast = step.cursor === FIRST_CURSOR;
    if (!isLast && page.size < PAGE) continue;
    const isNeeded = page.size > 0 || before.size === 0;
    const next = isLast ? {} : { next: encodeCursor([step.generation, step.server, step.cursor]) };
    if (isNeeded) yield { stale: step.stale, views: [...page.values()].sort(byText), ...next };
    if (isLast) return;
    before = page;
    page = new Map();
  }
}

export function byText(a: ViewSummary, b: ViewSummary): number {
  return a.view < b.view ? -1 : 1;
}

import type { BoardDefinition } from '#board';
import { InvalidReadError, ListingInterruptedError } from '../layout/store-errors.js';
import type { BoardLocator } from './board-locator.js';
import { byText, type ViewsPage, type ViewsStep, type ViewSummary } from './existing-views.js';
import type { ReadCommands } from './read-commands.js';
import { boundsOf, MOST_PLAYERS, whole, type PageRequest } from './read-requests.js';
import { standingsOf, type Standings } from './standings-reply.js';
import {
  checkDimensions,
  encodeCursor,
  pageEndOf,
  scanCursor,
  selectedView,
  type Anchor,
} from './view-selection.js';

const FIRST_CURSOR = '0';

/** A page of a listing ends with the step that reaches this number of views. */
const PAGE = 10_000;

/** The pages of a view and of the list of views. An export reads both with a locator of its own. */
export class PagedReads {
  constructor(
    private readonly locator: BoardLocator,
    private readonly commands: ReadCommands,
  ) {}

  async standings(board: string, request: PageRequest = {}): Promise<Standings> {
    const { from, after, dense } = request;
    const limit = whole('limit', request.limit ?? 100, 0, MOST_PLAYERS);
    const position = whole('from', from ?? 1, 1, Number.MAX_SAFE_INTEGER) - 1;
    if (after !== undefined && from !== undefined)
      throw new InvalidReadError('after', 'excludes from; leave out one of them');
    return this.locator.read(board, async (located) => {
      const begin = beginOf(located.definition, request, position);
      return standingsOf(await this.commands.page(located, { ...begin, limit, dense }));
    });
  }

  /**
   * Joins the steps of a listing into pages; only the first can be empty. HSCAN may repeat views of
   * the previous step when the hash table shrinks, so a page drops views that it, or the page
   * before it, already has. `after` is the cursor of another listing. Views without players are
   * left out, unless `withEmpty`.
   * @throws ListingInterruptedError, InvalidReadError
   */
  async *views(board: string, after?: string, withEmpty = false): AsyncGenerator<ViewsPage> {
    const given = after === undefined ? undefined : scanCursor(after);
    const stepFrom = (cursor: string) => this.#viewsFrom(board, cursor, withEmpty);
    const first = await stepFrom(given?.[2] ?? FIRST_CURSOR);
    if (given !== undefined && (first.generation !== given[0] || first.server !== given[1]))
      throw new InvalidReadError('after', 'the cursor is not of the live views; list them again');
    let before = new Map<string, ViewSummary>();
    let page = new Map<string, ViewSummary>();
    let stale = false;
    for (let step = first; ; step = await stepFrom(step.cursor)) {
      if (step.generation !== first.generation || step.server !== first.server)
        throw new ListingInterruptedError(board);
      stale ||= step.stale;
      for (const view of step.views) if (!before.has(view.view)) page.set(view.view, view);
      const isLast = step.cursor === FIRST_CURSOR;
      if (!isLast && page.size < PAGE) continue;
      const isNeeded = page.size > 0 || before.size === 0;
      const next = isLast
        ? {}
        : { next: encodeCursor([step.generation, step.server, step.cursor]) };
      if (isNeeded) yield { stale, views: [...page.values()].sort(byText), ...next };
      if (isLast) return;
      before = page;
      page = new Map();
      stale = false;
    }
  }

  /**
   * Reads a step, then the sizes of its views. A view whose players are all banned or erased has
   * size 0, and so has a view that is swept in between.
   */
  #viewsFrom(board: string, cursor: string, withEmpty: boolean): Promise<ViewsStep> {
    return this.locator.read(board, async (located) => {
      const step = await this.commands.views(located, cursor);
      const names = step.views.map(({ view }) => view);
      const sizes = await this.commands.sizes(located, names);
      if (sizes.includes(0)) {
        const { generation } = await this.locator.locate(board);
        if (generation !== located.generation) throw new ListingInterruptedError(board);
      }
      const sized = step.views.map((view, index) => ({ ...view, size: sizes[index] ?? 0 }));
      return { ...step, views: sized.filter(({ size }) => withEmpty || size > 0) };
    });
  }
}

/**
 * The view of a page, the anchor and the range of scores. `position` is that of the first player if
 * the page is not behind another one.
 */
function beginOf(definition: BoardDefinition, request: PageRequest, position: number) {
  const { after, scores } = request;
  const bounds = boundsOf(definition, scores);
  if (after === undefined) {
    const anchor: Anchor = ['position', position];
    return { ...selectedView(definition, request), anchor, bounds };
  }
  const { end, readable } = pageEndOf(definition, after);
  checkDimensions(definition, end.view, request);
  if (scores !== undefined && bounds.join() !== end.bounds.join())
    throw new InvalidReadError('scores', 'differ from those of the page before; leave them out');
  const anchor: Anchor = ['behind', end.playerId, end.state];
  return { ...readable, anchor, bounds: end.bounds };
}

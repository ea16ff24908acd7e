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

/**
 * Reads a view, and the list of views, in pages. An export reads both with a locator of its own.
 */
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
   * Joins the steps of a listing into pages; only the first page can be empty. HSCAN may repeat
   * views of the previous step when the hash table shrinks, so a page drops views that it already
   * has, or that the page before it has. `after` is the cursor of another listing. Leaves out views
   * without players, unless `withEmpty`.
   * @throws ListingInterruptedError, InvalidReadError
   */
  async *views(board: string, after?: string, withEmpty = false): AsyncGenerator<ViewsPage> {
    const first = await this.#firstStep(board, after, withEmpty);
    let step = first;
    let viewsBefore = new Map<string, ViewSummary>();
    let views = new Map<string, ViewSummary>();
    let stale = false;
    for (;;) {
      if (step.generation !== first.generation || step.server !== first.server)
        throw new ListingInterruptedError(board);

      stale ||= step.stale;
      for (const view of step.views) if (!viewsBefore.has(view.view)) views.set(view.view, view);

      const isLast = step.cursor === FIRST_CURSOR;
      if (isLast || views.size >= PAGE) {
        const isNeeded = views.size > 0 || viewsBefore.size === 0;
        const sorted = [...views.values()].sort(byText);
        if (isNeeded) yield { stale, views: sorted, ...(!isLast && { next: cursorBehind(step) }) };
        if (isLast) return;
        viewsBefore = views;
        views = new Map();
        stale = false;
      }
      step = await this.#viewsFrom(board, step.cursor, withEmpty);
    }
  }

  async #firstStep(board: string, after: string | undefined, withEmpty: boolean) {
    if (after === undefined) return this.#viewsFrom(board, FIRST_CURSOR, withEmpty);

    const [generation, server, cursor] = scanCursor(after);
    const step = await this.#viewsFrom(board, cursor, withEmpty);
    if (step.generation !== generation || step.server !== server)
      throw new InvalidReadError('after', 'the cursor is not of the live views; list them again');
    return step;
  }

  /**
   * Reads a step, then the sizes of its views. The size is 0 if all players of a view are banned or
   * erased, if the view is swept in between, or if its generation is no longer live.
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

function cursorBehind({ generation, server, cursor }: ViewsStep): string {
  return encodeCursor([generation, server, cursor]);
}

/**
 * The view of a page, its anchor and the range of scores. A page begins behind the page of its
 * cursor, or at `position` if it has no cursor.
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

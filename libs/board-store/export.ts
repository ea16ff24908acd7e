import { viewFilter, type BoardDefinition } from '#board';
import { ExpiredViewError, InvalidReadError } from './errors.js';
import type { ViewsPage } from './existing-views.js';
import { MOST_PLAYERS, type PageRequest } from './read-requests.js';
import type { Standings } from './standings.js';
import { timeOf } from './view-selection.js';

/** Which views to export, by default all. */
export interface ExportRequest {
  /** Views by name, as `view` of a ViewSelection. It excludes `window` and `where`. */
  readonly views?: readonly string[] | undefined;
  /** Only views of a window: `week` for all weeks that exist; `week:previous`, `week:2026-W47` for one. */
  readonly window?: string | undefined;
  /** Only views with these values of dimensions, maybe among others: `{ region: 'eu' }`. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** The time that `current` and `previous` refer to, by default now. A number is ms since 1970. */
  readonly at?: Date | number | undefined;
  /** Is called for a view that expires before its turn; it is left out. */
  readonly onExpired?: ((error: ExpiredViewError) => void) | undefined;
}

/** A page of an export. */
export interface ExportPage extends Standings {
  /** The names of the score columns, in order. */
  readonly columns: readonly string[];
  /** The number of players in all views that are listed so far, of which there may be more than have been exported. */
  readonly total: number;
}

/** A board to export, in one generation. */
interface Source {
  readonly definition: BoardDefinition;
  readonly list: () => AsyncGenerator<ViewsPage>;
  readonly read: (request: PageRequest) => Promise<Standings>;
}
type Sized = Pick<Standings, 'view' | 'size'>;

/** How many views' first pages are read before the caller asks for them: Redis gets these requests in one trip. */
const AHEAD = 8;

/** See BoardReader.export. */
export async function* exportPages(
  source: Source,
  request: ExportRequest,
): AsyncGenerator<ExportPage> {
  const columns = source.definition.columns.map(({ name }) => name);
  let total = 0;
  for await (const views of chosenViews(source, request)) {
    total = views.reduce((sum, { size }) => sum + size, total);
    for (const { first, rest } of madeAhead(views, ({ view }) => beginView(source, view))) {
      const page = await first.catch((error: unknown) => {
        if (!(error instanceof ExpiredViewError)) throw error;
        request.onExpired?.(error);
      });
      if (page === undefined) continue;
      yield { ...page, columns, total };
      for await (const next of rest) yield { ...next, columns, total };
    }
  }
}

/**
 * The pages of a view from the top, or from where the request begins, by cursor, with at most `most` players; one at least. Reads
 * the next page while the caller uses one.
 */
export async function* walkView(
  read: (request: PageRequest) => Promise<Standings>,
  { most = Infinity, ...begin }: Omit<PageRequest, 'limit'> & { readonly most?: number },
): AsyncGenerator<Standings> {
  let left = most;
  const nextPage = (request: PageRequest) => {
    const page = read({ ...request, limit: Math.min(left, MOST_PLAYERS) });
    page.catch(() => undefined); // a caller who stops does not wait for it
    return page;
  };
  for (let reading: Promise<Standings> | undefined = nextPage(begin); reading !== undefined;) {
    const page: Standings = await reading;
    left -= page.entries.length;
    const after = left > 0 ? page.next : undefined;
    reading = after === undefined ? undefined : nextPage({ after });
    yield page;
  }
}

/** Lists of views, with their sizes. @throws InvalidReadError, and what BoardReader.standings throws for a view by name */
async function* chosenViews(
  { definition, list, read }: Source,
  { views: names, window, where = {}, at = Date.now() }: ExportRequest,
): AsyncGenerator<readonly Sized[]> {
  const values = Object.entries(where);
  if (names !== undefined && (window !== undefined || values.length > 0))
    throw new InvalidReadError(
      'views',
      'exclude window and where; leave out the one or the others',
    );
  if (names !== undefined) {
    const heads = await Promise.all(names.map((view) => read({ view, at, limit: 0 })));
    yield [...new Map(heads.map((head) => [head.view, head])).values()];
    return;
  }
  const isWanted = viewFilter(definition, { window, where: values }, timeOf(at));
  for await (const { views } of list()) yield views.filter(({ view }) => isWanted(view));
}

/** Begins to read a view. `rest` is for use after `first`. */
function beginView({ read }: Source, view: string) {
  const rest = walkView(read, { view });
  const first = rest.next().then(({ value }) => value as Standings); // a walk has a page
  first.catch(() => undefined); // the caller may stop before its turn
  return { first, rest };
}

/** Makes something of each item, AHEAD items before its turn. */
function* madeAhead<T, U>(items: readonly T[], make: (item: T) => U): Generator<U> {
  const made: U[] = [];
  for (const item of items) {
    made.push(make(item));
    yield* made.splice(0, made.length - AHEAD);
  }
  yield* made;
}

import type { ViewsPage } from './existing-views.js';
import { MOST_PLAYERS, type PageRequest } from './read-requests.js';
import type { Standings } from './standings.js';
import type { ViewReads } from './view-reads.js';

interface Reader extends Pick<ViewReads, 'standings'> {
  viewPages(board: string): AsyncIterable<ViewsPage>;
}

/** The pages of all views, or of the named ones, one view after the other. See BoardReader.export. */
export async function* exportPages(
  reader: Reader,
  board: string,
  names?: readonly string[],
): AsyncGenerator<Standings> {
  const heads = names?.map((view) => reader.standings(board, { view, limit: 0 }));
  const lists = heads ? [{ views: await Promise.all(heads) }] : reader.viewPages(board);
  for await (const { views } of lists)
    for (const { view } of views) yield* walkView(reader, board, { view, most: Infinity });
}

/** The pages of a view by cursor, from where the request begins, with at most `most` players in all; one page at least. */
export async function* walkView(
  reader: Pick<Reader, 'standings'>,
  board: string,
  { most, ...begin }: Omit<PageRequest, 'limit'> & { readonly most: number },
): AsyncGenerator<Standings> {
  let left = most;
  for (let request: PageRequest | undefined = begin; request !== undefined;) {
    const limit = Math.min(left, MOST_PLAYERS);
    const page: Standings = await reader.standings(board, { ...request, limit });
    yield page;
    left -= page.entries.length;
    request = left > 0 && page.next !== undefined ? { after: page.next } : undefined;
  }
}

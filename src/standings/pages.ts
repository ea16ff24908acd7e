import { formatTime, LATEST_TIME } from '#board';
import type { BoardReader, Standing, Standings, ViewSelection, ViewSummary } from '#board-store';

export type PageReader = Pick<BoardReader, 'standings'>;

const PAGE = 1_000;
const MAX_ATTEMPTS = 5;

type TopRequest = ViewSelection & { readonly most: number };

/**
 * The first `most` players of a view. Reads them up to five times if the view changes between two pages. `consistent` is false
 * if it changed each time: a player may then be missing or appear twice, and pages after the change have no dense ranks.
 */
export async function readTop(
  reader: PageReader,
  board: string,
  request: TopRequest,
): Promise<{ standings: Standings; consistent: boolean }> {
  for (let attempt = 1; ; attempt++) {
    const read = await readPages(reader, board, request);
    if (read.consistent || attempt === MAX_ATTEMPTS) return read;
  }
}

async function readPages(reader: PageReader, board: string, { most, ...selection }: TopRequest) {
  const first = await reader.standings(board, { ...selection, limit: Math.min(most, PAGE) });
  const { view } = first;
  const entries: Standing[] = [...first.entries];
  let consistent = true;
  while (entries.length < Math.min(most, first.size)) {
    const limit = Math.min(PAGE, most - entries.length);
    const page = await reader.standings(board, { view, from: entries.length + 1, limit });
    consistent &&= page.version === first.version;
    if (page.entries.length === 0) break;
    entries.push(...(consistent ? countDense(page.entries, entries.at(-1)) : page.entries));
  }
  return { standings: { ...first, entries }, consistent };
}

/** Adds dense ranks to a page, counting on from `before`, the last entry of the page before. */
function countDense(entries: readonly Standing[], before: Standing | undefined): Standing[] {
  let { competitionRank = 0, denseRank = 0 } = before ?? {};
  return entries.map((entry) => {
    if (entry.competitionRank !== competitionRank) denseRank += 1;
    competitionRank = entry.competitionRank;
    return { ...entry, denseRank };
  });
}

/** A view of a listing as JSON, with a text for the time until which it is kept. */
export function viewJson({ view, size, version, expiresAt }: ViewSummary) {
  return { view, size, version, expiresAt: expiryText(expiresAt) };
}

/** The time of `expiresAt` (ms); null: never. Times after LATEST_TIME are never, because no event is later. */
export function expiryText(expiresAt: number | null): string | null {
  return expiresAt === null || expiresAt > LATEST_TIME ? null : formatTime(expiresAt);
}

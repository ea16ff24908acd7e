import {
  MOST_PLAYERS,
  type AroundRequest,
  type CountRequest,
  type Decimal,
  type HistogramRequest,
  type PageRequest,
  type PlaceRequest,
  type PlayerRequest,
  type RankOrShare,
  type SearchRequest,
} from './read-requests.js';
import type {
  Histogram,
  PlayerStanding,
  RankOfScore,
  SearchPage,
  SelectedStandings,
  Standings,
} from './standings-reply.js';
import type { ViewSelection } from './view-selection.js';

/** Reads of views. BoardReader describes them; HttpBoardReader of libs/http asks a service. */
export interface ViewReads {
  standings(board: string, request?: PageRequest): Promise<Standings>;
  count(board: string, request?: CountRequest): Promise<number>;
  player(board: string, playerId: string, request?: PlayerRequest): Promise<PlayerStanding>;
  around(board: string, playerId: string, request?: AroundRequest): Promise<Standings>;
  players(
    board: string,
    playerIds: readonly string[],
    selection?: ViewSelection,
  ): Promise<SelectedStandings>;
  playerOn(
    playerId: string,
    requests: readonly (PlayerRequest & { readonly board: string })[],
  ): Promise<PlayerStanding[]>;
  rankOf(
    board: string,
    score: Decimal | Readonly<Record<string, Decimal>>,
    selection?: ViewSelection,
  ): Promise<RankOfScore>;
  at(board: string, asked: RankOrShare, request?: PlaceRequest): Promise<Standings>;
  histogram(board: string, request?: HistogramRequest): Promise<Histogram>;
  search(board: string, text: string, request?: SearchRequest): Promise<SearchPage>;
}

/**
 * The pages of a view, from the beginning of the request on. They have at most `most` players
 * together. There is at least one page.
 */
export async function* walkView(
  reader: Pick<ViewReads, 'standings'>,
  board: string,
  request: Omit<PageRequest, 'limit'> & { readonly most: number },
): AsyncGenerator<Standings> {
  const { most, ...firstPage } = request;
  let left = most;
  let nextPage: PageRequest = firstPage;
  for (;;) {
    const limit = Math.min(left, MOST_PLAYERS);
    const page = await reader.standings(board, { ...nextPage, limit });
    yield page;

    left -= page.entries.length;
    if (left <= 0 || page.next === undefined) return;
    nextPage = { after: page.next };
  }
}

import type {
  AroundRequest,
  CountRequest,
  Decimal,
  HistogramRequest,
  PageRequest,
  PlaceRequest,
  PlayerRequest,
  RankOrShare,
  SearchRequest,
} from './read-requests.js';
import type {
  Histogram,
  PlayerStanding,
  RankOfScore,
  SearchPage,
  SelectedStandings,
  Standings,
} from './standings.js';
import type { ViewSelection } from './view-selection.js';

/** The questions on views. BoardReader, which says what each answers, asks Redis; HttpBoardReader of libs/http asks a service. */
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

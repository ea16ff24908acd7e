/** The exports of the package @ranklog/reader: what reads boards, without what writes them. */
export type { BoardDefinition } from '#board';
export { MalformedViewError, NoInstanceError, NoSuchViewError } from '#board';
export { RanklogError } from '#errors';
export { BoardReader, type ReaderOptions } from './read/board-reader.js';
export {
  BoardBuildingError,
  BoardStoreError,
  ExpiredViewError,
  InvalidReadError,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from './layout/store-errors.js';
export type { BanEntry } from './layout/ban-register.js';
export type { BansPage, BansRequest, KeptState } from './read/bans.js';
export type { ViewsPage, ViewSummary } from './read/existing-views.js';
export type {
  AroundRequest,
  CountRequest,
  Decimal,
  DenseOption,
  HistogramRequest,
  PageRequest,
  PlaceRequest,
  PlayerRequest,
  RankOrShare,
  ScoreRange,
  SearchRequest,
} from './read/read-requests.js';
export type {
  Histogram,
  Neighbour,
  PlayerStanding,
  RankOfScore,
  SearchPage,
  Selected,
  SelectedStandings,
  Standing,
  Standings,
  ViewHead,
} from './read/standings-reply.js';
export type { LiveBoard } from './layout/types.js';
export type { ViewSelection } from './read/view-selection.js';

/** The exports of the package @ranklog/reader: what reads boards, without what writes them. */
export type { BoardDefinition } from '#board';
export { MalformedViewError, NoInstanceError, NoSuchViewError } from '#board';
export { BoardReader, type ReaderOptions } from './board-reader.js';
export {
  BoardBuildingError,
  BoardStoreError,
  ExpiredViewError,
  InvalidReadError,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from './errors.js';
export type { ViewsPage, ViewSummary } from './existing-views.js';
export type * from './read-requests.js';
export type * from './standings.js';
export type { LiveBoard } from './types.js';
export type { ViewSelection } from './view-selection.js';

export { BoardReader, type ReaderOptions } from './board-reader.js';
export { BoardStore } from './board-store.js';
export { ContinuityStore, type Comparison, type Recovered } from './continuity-store.js';
export * from './errors.js';
export type { ViewsPage, ViewSummary } from './existing-views.js';
export { GenerationCatalog } from './generation-catalog.js';
export { GenerationStore, type Promotion, type NewShadow } from './generation-store.js';
export * from './identity.js';
export { KeySpace, shardOf } from './keys.js';
export { HOLDER, LEASE_MS, LeaseStore } from './lease-store.js';
export type * from './read-requests.js';
export type {
  Histogram,
  Neighbour,
  PlayerStanding,
  RankOfScore,
  SearchPage,
  SelectedStandings,
  Standing,
  Standings,
  ViewHead,
} from './standings.js';
export { StoreStatus, type BoardOverview } from './store-status.js';
export * from './types.js';
export * from './generation-types.js';
export type { ViewReads } from './view-reads.js';
export { selectedView, type ViewSelection } from './view-selection.js';

export { BoardStore } from './apply/board-store.js';
export {
  ContinuityStore,
  type BegunResync,
  type Promoted,
  type Recovered,
} from './apply/continuity-store.js';
export * from './layout/ban-register.js';
export * from './layout/store-errors.js';
export { GenerationCatalog } from './generations/generation-catalog.js';
export {
  GenerationStore,
  UNRANKED,
  MISSED,
  UNSETTLED,
  type Promotion,
  type NewShadow,
} from './generations/generation-store.js';
export * from './layout/identity-check.js';
export { HOLDER, LEASE_MS } from './layout/leases.js';
export { KeySpace, shardOf, SLOTS } from './layout/keys.js';
export { LeaseStore } from './generations/lease-store.js';
export {
  primariesOf,
  replicaErrorOf,
  ReplicaError,
  requirePrimary,
  type RedisClient,
} from './layout/redis-client.js';
export { refusedCommands } from './layout/redis-rights.js';
export { PinnedBoard } from './read/pinned-board.js';
export { requirePlayerId, valuesOf } from './read/read-requests.js';
export * from './reader.js';
export { StoreStatus, type BoardOverview } from './read/store-status.js';
export { TIE_SIGNS } from './layout/ties.js';
export * from './layout/types.js';
export * from './layout/generation-types.js';
export { walkView, type ViewReads } from './read/view-reads.js';
export { selectedView } from './read/view-selection.js';

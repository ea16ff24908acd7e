export { BoardStore } from './board-store.js';
export {
  ContinuityStore,
  type Comparison,
  type Promoted,
  type Recovered,
} from './continuity-store.js';
export * from './errors.js';
export { GenerationCatalog } from './generation-catalog.js';
export { GenerationStore, UNRANKED, type Promotion, type NewShadow } from './generation-store.js';
export * from './identity.js';
export { KeySpace, shardOf } from './keys.js';
export { HOLDER, LEASE_MS, LeaseStore } from './lease-store.js';
export { replicaErrorOf, ReplicaError, requirePrimary } from './primary.js';
export { refusedCommands } from './rights.js';
export { requirePlayerId } from './read-requests.js';
export * from './reader.js';
export { StoreStatus, type BoardOverview } from './store-status.js';
export * from './types.js';
export * from './generation-types.js';
export { walkView, type ViewReads } from './view-reads.js';
export { selectedView } from './view-selection.js';

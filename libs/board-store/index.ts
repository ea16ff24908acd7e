export { BoardReader, type BoardOverview, type Page } from './board-reader.js';
export { BoardStore } from './board-store.js';
export { ContinuityStore, type Comparison, type Healed } from './continuity-store.js';
export * from './errors.js';
export type { ViewsPage, ViewSummary } from './existing-views.js';
export { GenerationCatalog } from './generation-catalog.js';
export { GenerationStore, type Flip, type NewShadow } from './generation-store.js';
export * from './identity.js';
export { KeySpace } from './keys.js';
export { isOffset, keptOffset, keptRecord } from './kept-texts.js';
export { HOLDER, LEASE_MS, LeaseStore } from './lease-store.js';
export type { ComparedViews } from './comparison.js';
export {
  SampleStore,
  type SampleViolation,
  type SampleViolationKind,
  type WatermarkReading,
} from './sample-store.js';
export type { Standing, Standings } from './standings.js';
export { shardOf } from './shard.js';
export { WatermarkStore, type KeptWatermark } from './watermark-store.js';
export * from './types.js';
export * from './generation-types.js';

export { BoardReader, type BoardOverview, type Page, type ViewSummary } from './board-reader.js';
export { BoardStore } from './board-store.js';
export { ContinuityStore } from './continuity-store.js';
export * from './errors.js';
export { KeySpace } from './keys.js';
export type { Standing, Standings } from './standings.js';
export { shardOf } from './shard.js';
export * from './types.js';
export * from './generation-types.js';

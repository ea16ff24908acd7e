export { BoardReader, type Standing, type Standings, type ViewSummary } from './board-reader.js';
export { BoardStore } from './board-store.js';
export * from './errors.js';
export { KeySpace } from './keys.js';
export * from './types.js';

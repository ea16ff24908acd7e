export * from './boards-file.js';
export * from './decimal.js';
export * from './definition.js';
export { BOARDS_FILE_SCHEMA } from './definition-schema.js';
export * from './definition-text.js';
export * from './resolve-event.js';
export * from './sort-key.js';
export * from './state.js';
export * from './view.js';

export * from './leader-change-dto.js';
export * from './period-result-dto.js';
export { PlayerRecordDto } from './player-record-dto.js';
export * from './rank-change-dto.js';
export * from './result-part-dtos.js';
export { ScoreEventDto } from './score-event-dto.js';

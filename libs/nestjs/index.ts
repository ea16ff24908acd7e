export { BoardReader } from '#board-store';
export { ScoreProducer, type LeaderChange, type RankChange } from '#client';
export { OnLeaderChange, OnRankChange, type ResultFilter } from './decorators.js';
export type { RanklogModuleOptions } from './options.js';
export { RanklogHealth, type RanklogHealthResult } from './ranklog-health.js';
export { RanklogModule } from './ranklog.module.js';

/**
 * With the exports of the client and the reader: an application needs one import, and one copy of
 * their classes.
 */
export * from '#board-store/reader';
export * from '#client';
export {
  OnDeadLetter,
  OnLeaderChange,
  OnPeriodClosed,
  OnRankChange,
  type DeadLetterFilter,
  type ResultFilter,
} from './decorators.js';
export { LiveLeaders, type LeadersEvent } from './live-leaders.js';
export { RANKLOG_OPTIONS, type RanklogModuleOptions } from './options.js';
export { RanklogExceptionFilter } from './ranklog-exception.filter.js';
export { RanklogHealth, type RanklogHealthResult } from './ranklog-health.js';
export { RanklogModule } from './ranklog.module.js';
export { ResultSubscriptions } from './result-subscriptions.js';

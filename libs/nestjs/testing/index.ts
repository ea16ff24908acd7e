/**
 * The package @ranklog/nestjs/testing: tests of services that use RanklogModule, without Kafka and
 * Redis.
 */
export { BoardsFileError } from '#board';
export type { SentPlayerRecord } from './memory-producer.js';
export {
  RanklogTestingModule,
  type GivenStanding,
  type TestingOptions,
} from './ranklog-testing-module.js';
export * from './result-builders.js';

import { logLevel, type logCreator } from 'kafkajs';
import type { KafkaBatchLogger } from './types.js';

/** Words of kafkajs that sound worse than they are: each is retried or reported by this library. */
const NOISE =
  /CONCURRENT_TRANSACTIONS|concurrent operation on the same transaction|Limiting retries for the idempotent|concurrent transactional|Connection error|Failed to connect to seed broker|rebalancing|re-joining|not aware of this member|The group coordinator is not available|There is no leader|does not host this topic-partition|Response (Heartbeat|JoinGroup|SyncGroup|InitProducerId|AddOffsetsToTxn|EndTxn|FindCoordinator|GroupCoordinator|TxnOffsetCommit|AddPartitionsToTxn)/i;

/** A kafkajs logCreator that hands its words to our logger. */
export function kafkaLogCreator(logger: KafkaBatchLogger): logCreator {
  return () =>
    ({ level, log: { message, ...facts } }) => {
      const text = `kafkajs: ${message}`;
      const about = { broker: facts['broker'] as unknown, error: facts['error'] as unknown };
      if (level >= logLevel.INFO || NOISE.test(`${message} ${String(about.error)}`))
        logger.debug(text, about);
      else if (level === logLevel.WARN) logger.warn(text, about);
      else logger.error(text, about);
    };
}

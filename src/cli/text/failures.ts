import kafkajs from 'kafkajs';
import {
  BoardsFileError,
  MalformedViewError,
  NoInstanceError,
  NoSuchViewError,
  suggestion,
  TooManyVoidsError,
} from '#board';
import {
  BoardBuildingError,
  ExpiredViewError,
  InvalidReadError,
  LeaseLostError,
  NoPreviousGenerationError,
  OtherIdentityError,
  UnknownBoardError,
  UnknownGenerationError,
} from '#board-store';
import { SendError } from '#client';
import { PermanentPartitionError } from '#kafka-batch';
import { ServersError } from '#servers';
import { SettingsError } from '../../config/settings.js';
import { isRedisUnavailable } from '../../infra/redis.js';
import { ServiceUnreachableError } from '../../infra/services.js';
import { ScoreTopicError, TopicsMissingError } from '../../infra/topics.js';
import { GroupTakenError } from '../../ingest/ingest-errors.js';
import { BoardsFileMissingError } from '../../reconciliation/boards/read-boards-file.js';
import { StaleBoardError } from '../../reconciliation/periods/period-errors.js';
import {
  AppliedBeyondLogError,
  BoardsLostError,
  CancelledError,
  HistoryCutError,
  OutOfMemoryError,
  UnvoidError,
} from '../../reconciliation/runs/run-errors.js';
import { CommandError, EXIT } from './exit-codes.js';

/**
 * The errors of each exit code. Other errors: `unreachable` if they are retriable or Redis is
 * unavailable, else `failed`.
 */
const ERRORS = [
  [EXIT.cancelled, [CancelledError]],
  [EXIT.usage, [SettingsError, BoardsFileError, BoardsFileMissingError, OtherIdentityError]],
  [EXIT.usage, [TopicsMissingError, ScoreTopicError, HistoryCutError, GroupTakenError]],
  [EXIT.usage, [MalformedViewError, NoSuchViewError, InvalidReadError]],
  [EXIT.usage, [PermanentPartitionError, TooManyVoidsError, UnvoidError]],
  [EXIT.no, [UnknownBoardError, UnknownGenerationError, BoardBuildingError]],
  [EXIT.no, [ExpiredViewError, NoInstanceError, NoPreviousGenerationError, AppliedBeyondLogError]],
  [EXIT.unreachable, [BoardsLostError, LeaseLostError, OutOfMemoryError, SendError]],
  [EXIT.stale, [StaleBoardError]],
  [EXIT.unreachable, [ServiceUnreachableError, ServersError, kafkajs.KafkaJSError]],
] as const;

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  const found = ERRORS.find(([, types]) => types.some((type) => error instanceof type));
  if (found !== undefined) return found[0];
  const isRetriable = error instanceof Error && 'retriable' in error && error.retriable === true;
  return isRetriable || isRedisUnavailable(error) ? EXIT.unreachable : EXIT.failed;
}

/** The message for the user; the stack with RANKLOG_LOG_LEVEL=debug. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env['RANKLOG_LOG_LEVEL'] === 'debug') return error.stack ?? error.message;
  if (error instanceof kafkajs.KafkaJSConnectionError)
    return `Kafka is unavailable (${error.message}); try again later`;
  if (isRedisUnavailable(error)) return `Redis is unavailable (${error.message}); try again later`;
  return error.message + hint(error);
}

function hint(error: Error): string {
  if (error instanceof UnknownBoardError) return suggestion(error.board, error.known);
  return error instanceof NoSuchViewError ? suggestion(error.asked, error.known) : '';
}

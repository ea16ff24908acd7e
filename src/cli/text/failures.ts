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

/** The errors of each exit code; `exitCodeOf` decides about all others. */
const ERRORS = [
  { code: EXIT.cancelled, types: [CancelledError] },
  { code: EXIT.stale, types: [StaleBoardError] },
  {
    code: EXIT.usage,
    types: [
      BoardsFileError,
      BoardsFileMissingError,
      GroupTakenError,
      HistoryCutError,
      InvalidReadError,
      MalformedViewError,
      NoSuchViewError,
      OtherIdentityError,
      PermanentPartitionError,
      ScoreTopicError,
      SettingsError,
      TooManyVoidsError,
      TopicsMissingError,
      UnvoidError,
    ],
  },
  {
    code: EXIT.no,
    types: [
      AppliedBeyondLogError,
      BoardBuildingError,
      ExpiredViewError,
      NoInstanceError,
      NoPreviousGenerationError,
      UnknownBoardError,
      UnknownGenerationError,
    ],
  },
  {
    code: EXIT.unreachable,
    types: [
      BoardsLostError,
      kafkajs.KafkaJSError,
      LeaseLostError,
      OutOfMemoryError,
      SendError,
      ServersError,
      ServiceUnreachableError,
    ],
  },
] as const;

/** For an error not in ERRORS: `unreachable` if a retry may help, else `failed`. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;

  const found = ERRORS.find(({ types }) => types.some((type) => error instanceof type));
  if (found !== undefined) return found.code;

  const isRetriable = error instanceof Error && 'retriable' in error && error.retriable === true;
  return isRetriable || isRedisUnavailable(error) ? EXIT.unreachable : EXIT.failed;
}

/** The message for the user. With RANKLOG_LOG_LEVEL=debug, the stack. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env['RANKLOG_LOG_LEVEL'] === 'debug') return error.stack ?? error.message;

  if (error instanceof kafkajs.KafkaJSConnectionError)
    return `Kafka is unavailable (${error.message}); try again later`;
  if (isRedisUnavailable(error)) return `Redis is unavailable (${error.message}); try again later`;
  return error.message + hint(error);
}

/** Suggests a similar name for one that is not known. */
function hint(error: Error): string {
  if (error instanceof UnknownBoardError) return suggestion(error.board, error.known);
  if (error instanceof NoSuchViewError) return suggestion(error.asked, error.known);
  return '';
}

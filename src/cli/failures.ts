import {
  BoardsFileError,
  MalformedViewError,
  NoInstanceError,
  NoSuchViewError,
  suggestion,
} from '#board';
import {
  BoardBuildingError,
  ExpiredViewError,
  LeaseHeldError,
  LeaseLostError,
  ListingInterruptedError,
  NoPreviousGenerationError,
  OtherIdentityError,
  UnknownBoardError,
  UnknownGenerationError,
} from '#board-store';
import kafkajs from 'kafkajs';
import { KafkaUnreachableError } from '#kafka-batch';
import { ServiceUnreachableError } from '../infra/services.js';
import { SettingsError } from '../config/settings.js';
import { ScoreTopicError, TopicsMissingError } from '../infra/topics.js';
import { BoardsFileMissingError } from '../registry/board-registrar.js';
import {
  BoardsLostError,
  CancelledError,
  HistoryCutError,
  LiveGenerationChangedError,
  OutOfMemoryError,
  ServerChangedError,
  ShadowLostError,
  AppliedBeyondLogError,
} from '../generations/errors.js';
import { CommandError, EXIT } from './exit-codes.js';
import { isRedisUnavailable } from './redis-unavailable.js';

const USAGE = [
  SettingsError,
  BoardsFileError,
  BoardsFileMissingError,
  OtherIdentityError,
  TopicsMissingError,
  ScoreTopicError,
  MalformedViewError,
  NoSuchViewError,
  HistoryCutError,
];
const NO = [
  UnknownBoardError,
  UnknownGenerationError,
  BoardBuildingError,
  ExpiredViewError,
  NoInstanceError,
  NoPreviousGenerationError,
  AppliedBeyondLogError,
];
const TRY_LATER = [
  BoardsLostError,
  OutOfMemoryError,
  ServiceUnreachableError,
  KafkaUnreachableError,
  kafkajs.KafkaJSError,
  LeaseHeldError,
  LeaseLostError,
  ListingInterruptedError,
  ShadowLostError,
  LiveGenerationChangedError,
  ServerChangedError,
];

/** The exit code that an error ends a command with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof CancelledError) return EXIT.cancelled;
  if (NO.some((type) => error instanceof type)) return EXIT.no;
  if (USAGE.some((type) => error instanceof type)) return EXIT.usage;
  const helpsLater = isRedisUnavailable(error) || TRY_LATER.some((type) => error instanceof type);
  return helpsLater ? EXIT.unreachable : EXIT.failed;
}

/** An error in words for the one who typed the command. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env['RANKLOG_LOG_LEVEL'] === 'debug') return error.stack ?? error.message;
  if (isRedisUnavailable(error)) return `Redis can't do it now (${error.message}); try again later`;
  return error.message + hint(error);
}

function hint(error: Error): string {
  if (error instanceof UnknownBoardError) return suggestion(error.board, error.known);
  return error instanceof NoSuchViewError ? suggestion(error.asked, error.known) : '';
}

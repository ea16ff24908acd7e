import kafkajs from 'kafkajs';

const { KafkaJSError, KafkaJSNumberOfRetriesExceeded, KafkaJSTimeout } = kafkajs;

/** A failure that a restart can't repair: the partition stops until someone looks after it; the others go on. */
export class PermanentPartitionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** First offset that a log holds, and the one that comes next. */
export interface LogRange {
  readonly start: number;
  readonly end: number;
}

/** What to do with a partition whose log can't be gone on with; docs/operations.md has the steps. */
const WAY_OUT =
  'This partition stops so that no event is skipped; the others continue; ' +
  'for what to do see "A partition stops for its log" in docs/operations.md';

/** The log ends before a record that was applied: it is another log under the same name, or was restored from a backup. */
export class LogEndsError extends PermanentPartitionError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly applied: number,
    readonly log: LogRange,
  ) {
    super(
      `${topic}/${partition} was applied up to offset ${applied}, but the log ends before that: it holds ${log.start} to ${log.end}. ` +
        `The topic was made anew, or was restored from a backup. ${WAY_OUT}`,
    );
  }
}

/** The record at the last applied offset is another one. */
export class OtherLogError extends PermanentPartitionError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly applied: number,
  ) {
    super(
      `${topic}/${partition} was applied up to offset ${applied}, but the record there is not the one that was applied: ` +
        `the topic was made anew under the same name. ${WAY_OUT}`,
    );
  }
}

/** The log does not hold the offset where the partition has to go on: its history was cut, or it is another log. */
export class LogGapError extends PermanentPartitionError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly expected: number,
    readonly log: LogRange,
  ) {
    super(
      `${topic}/${partition} has to go on at offset ${expected}, but the log holds ${log.start} to ${log.end}: ` +
        `its history was cut, or the topic was made anew. ${WAY_OUT}`,
    );
  }
}

/** A handler of a batch consumer is missing or there twice: the application is wired wrongly. */
export class BatchHandlerError extends Error {
  constructor(pattern: string, problem: 'missing' | 'duplicate') {
    super(
      problem === 'missing'
        ? `no controller method handles ${pattern}; decorate one with @${pattern}()`
        : `two controller methods handle ${pattern}; only one may have @${pattern}()`,
    );
    this.name = 'BatchHandlerError';
  }
}

/** Kafka did not answer in time at the start. */
export class KafkaUnreachableError extends Error {
  constructor(timeoutMs: number, cause: unknown) {
    super(`Kafka did not answer within ${timeoutMs} ms: ${describe(cause)}`, { cause });
    this.name = 'KafkaUnreachableError';
  }
}

/** Another producer with our transactional id has taken over. Nothing of the transaction is visible. */
export class ProducerFencedError extends Error {
  constructor(transactionalId: string, cause: unknown) {
    super(`another publisher with the transactional id ${transactionalId} has taken over`, {
      cause,
    });
    this.name = 'ProducerFencedError';
  }
}

/** The transaction may be committed or not: only a new publisher, which finishes it, can tell. */
export class PublishOutcomeUnknownError extends Error {
  constructor(transactionalId: string, cause: unknown) {
    super(`the outcome of a transaction of ${transactionalId} is not known: ${describe(cause)}`, {
      cause,
    });
    this.name = 'PublishOutcomeUnknownError';
  }
}

/** Kafka refuses a record for its size. The transaction was aborted. */
export class RecordTooLargeError extends PermanentPartitionError {
  constructor(topics: readonly string[], cause: unknown) {
    super(
      `Kafka refuses a result for its size (topics ${topics.join(', ')}); raise max.message.bytes of the topic above that of the score topic`,
      { cause },
    );
  }
}

/** Names as kafkajs gives them, which are those of older protocols. */
const FENCED = new Set([
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
]);
const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const BUSY = new Set([
  'CONCURRENT_TRANSACTIONS',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);
/** kafkajs calls them not retriable, but they pass. */
const PASSING = new Set([
  'UNKNOWN',
  'KAFKAJS_UNKNOWN_ERROR_CODE',
  'OFFSET_OUT_OF_RANGE',
  'BROKER_NOT_AVAILABLE',
]);

export function isFenced(error: unknown): boolean {
  return protocolTypes(error).some((type) => FENCED.has(type));
}

export function isTooLarge(error: unknown): boolean {
  return protocolTypes(error).some((type) => TOO_LARGE.has(type));
}

/** Whether the coordinator did nothing yet and asks to be asked again. */
export function isBusy(error: unknown): boolean {
  return protocolTypes(error).some((type) => BUSY.has(type));
}

/** Whether a request is asked again in vain: a right or a codec is missing, or the program is wrong. */
export function isPermanent(error: unknown): boolean {
  let root = error;
  while (root instanceof KafkaJSNumberOfRetriesExceeded && root.cause !== undefined)
    root = root.cause;
  if (!(root instanceof KafkaJSError)) return true;
  if (root.retriable || root instanceof KafkaJSTimeout) return false;
  return !protocolTypes(root).some((type) => PASSING.has(type));
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** The protocol error types in a kafkajs error and its causes. */
function protocolTypes(error: unknown): string[] {
  const types: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if ('type' in at && typeof at.type === 'string') types.push(at.type);
  return types;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

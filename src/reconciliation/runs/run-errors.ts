import { LeaseLostError, type ServerMemory, type ShadowRefusal } from '#board-store';
import { RanklogError } from '#errors';

/** Redis lost data of the reconciliation, or its board changed: another attempt may help. */
export class RestartError extends RanklogError {
  override readonly retriable = true;
}

/** A partition whose log no longer holds all events that a reconciliation needs. */
export interface CutPartition {
  readonly partition: number;
  /** The first offset that the reconciliation needs. */
  readonly from: number;
  /** The first offset that the log holds. */
  readonly logStart: number;
}

/** The log no longer holds some of the events that a board needs. */
export class HistoryCutError extends RanklogError {
  constructor(
    /**
     * The boards that lack events. If the log was cut during the reconciliation: all its boards, of
     * which at least one lacks events.
     */
    readonly boards: readonly string[],
    partitions: readonly CutPartition[],
    /** Whether --allow-partial-history would allow a build from the rest of the log. */
    mayBePartial: boolean,
  ) {
    const cuts = partitions.map(
      ({ partition, from, logStart }) => `partition ${partition}: ${from} to ${logStart - 1}`,
    );
    const hint = mayBePartial
      ? '; --allow-partial-history builds without them, and every status says so'
      : '';
    super(
      `events of board ${quoted(boards)} are gone from the log (${cuts.join(', ')}), so the ` +
        `generation would lack them${hint}`,
    );
  }
}

/** A rollback would count records again that the live generation voids. */
export class UnvoidError extends RanklogError {
  constructor(board: string, count: number) {
    super(
      `the previous generation of board "${board}" counts ${count} record(s) that are voided ` +
        'in the live one; use --allow-unvoid to count them again',
    );
  }
}

/** The caller cancelled the reconciliation, which undid its work, except kept shadows. */
export class CancelledError extends RanklogError {
  constructor(isKept: boolean) {
    const text = isKept
      ? 'stopped; what was built so far is kept'
      : 'cancelled; everything is as it was before';
    super(text);
  }
}

/** Redis has lost its boards. A retry helps once the role reconciliation has registered them. */
export class BoardsLostError extends RanklogError {
  constructor() {
    super(
      'Redis has lost its boards; the role reconciliation registers them again, and has to run ' +
        'somewhere',
    );
  }
}

/** A live applied offset lies beyond the log: the topic has lost records, or was created again. */
export class AppliedBeyondLogError extends RanklogError {
  constructor(
    board: string,
    readonly partitions: readonly { partition: number; appliedOffset: number; logEnd: number }[],
  ) {
    const places = partitions.map(
      ({ partition, appliedOffset, logEnd }) =>
        `partition ${partition}: applied up to ${appliedOffset}, the log ends at ${logEnd}`,
    );
    super(
      `the applied offsets of board "${board}" lie beyond the log (${places.join(', ')}): the ` +
        'topic was created again, or has lost records; ' +
        'see "A partition stops for its log" in docs/operations.md',
    );
  }
}

/** Redis has no room for a second generation in addition to the live one. */
export class OutOfMemoryError extends RanklogError {
  constructor(boards: readonly string[], memory?: ServerMemory) {
    let numbers = '';
    if (memory !== undefined)
      numbers = ` (maxmemory ${megabytes(memory.most)}, used ${megabytes(memory.used)})`;
    super(
      `Redis is full${numbers}: not enough memory for a second generation of ` +
        `${quoted(boards)}; the reconciliation was cancelled to free memory for live events. A ` +
        'build or a snapshot takes about as much memory as the live board, a verify less: raise ' +
        'maxmemory, or discard a generation ("ranklog boards generations" lists them, "ranklog ' +
        'boards discard" removes a snapshot or what a killed build has left); then start again',
    );
  }
}

const LOST = 'Redis has lost its shadow, or events of it';
const REFUSALS: Readonly<Record<Exclude<ShadowRefusal, 'leaseLost'>, string>> = {
  shadowGone: LOST,
  gap: LOST,
  generationChanged: 'its live generation changed during the reconciliation',
  serverChanged:
    'Redis restarted or failed over during the comparison, whose cursor is not valid any more',
};

/** The error for a call that the store refused. */
export function callRefusal(board: string, status: ShadowRefusal): Error {
  if (status === 'leaseLost') return new LeaseLostError(board);
  return new RestartError(`board "${board}": ${REFUSALS[status]}`);
}

function quoted(boards: readonly string[]): string {
  return boards.map((board) => `"${board}"`).join(', ');
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

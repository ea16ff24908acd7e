import { RanklogError } from '#errors';

/**
 * A problem of a boards file. `line` starts at 1; `field` is a path such as `columns[1].update`.
 */
export interface BoardsFileProblem {
  readonly file: string;
  readonly line: number;
  /** null for a problem outside of all boards. */
  readonly board: string | null;
  readonly field: string | null;
  readonly reason: string;
}

export class BoardsFileError extends RanklogError {
  readonly code = 'BAD_BOARDS_FILE';

  constructor(readonly problems: readonly BoardsFileProblem[]) {
    super(problems.map(problemText).join('\n'));
  }
}

/** `boards.yaml:7: board "football", columns[1].update: "most" is not allowed; ...` */
export function problemText({ file, line, board, field, reason }: BoardsFileProblem): string {
  const place = [board === null ? null : `board "${board}"`, field].filter((part) => part !== null);
  return [`${file}:${line}`, place.join(', '), reason].filter((part) => part !== '').join(': ');
}

export class MalformedViewError extends RanklogError {
  readonly code = 'MALFORMED_VIEW';

  constructor(readonly text: string) {
    super(
      `${JSON.stringify(text)} is not a view; write WINDOW or WINDOW NAME=VALUE ..., with ` +
        'values percent-encoded, such as "all" or "week:2026-W47 league=en.1 season=2019-20"',
    );
  }
}

/**
 * A view that the board does not have. `known` lists what could replace `asked`, but no instances
 * such as `week:2026-W47`.
 */
export class NoSuchViewError extends RanklogError {
  readonly code = 'NO_SUCH_VIEW';

  constructor(
    readonly board: string,
    problem: string,
    readonly asked: string,
    readonly known: readonly string[],
  ) {
    super(`board "${board}" ${problem}`);
  }
}

/**
 * The `current` or `previous` instance of a window does not exist, such as an interval before
 * `start`. `at`: ms since 1970.
 */
export class NoInstanceError extends RanklogError {
  readonly code = 'NO_INSTANCE';

  constructor(
    readonly board: string,
    readonly window: string,
    readonly at: number,
  ) {
    super(`board "${board}" has no ${window} at ${new Date(at).toISOString()}`);
  }
}

/** A definition can't void so many records. */
export class TooManyVoidsError extends RanklogError {
  readonly code = 'TOO_MANY_VOIDS';

  constructor(board: string, count: number, most: number) {
    super(
      `board "${board}" would have ${count} voided records; it can have up to ${most}; void fewer`,
    );
  }
}

/** Why a board rejects a well-formed event; each is the code of a dead letter. */
export type EventRejectionCode =
  | 'UNKNOWN_COLUMN'
  | 'MISSING_COLUMN'
  | 'DELTA_NEEDS_ONE_COLUMN'
  | 'MISSING_DIMENSION'
  | 'INVALID_NUMBER'
  | 'TOO_MANY_DECIMALS'
  | 'OUT_OF_RANGE'
  | 'OUT_OF_BOUNDS'
  | 'TOO_MANY_VIEWS_OF_AN_EVENT'
  | 'INVALID_TIME'
  | 'TOO_FAR_AHEAD'
  | 'WINDOW_CLOSED';

/** The board rejects an event. resolveEvent catches this error and returns the rejection. */
export class RejectedEventError extends RanklogError {
  constructor(
    readonly code: EventRejectionCode,
    message: string,
  ) {
    super(message);
  }
}

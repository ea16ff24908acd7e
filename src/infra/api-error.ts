import { HttpException, HttpStatus } from '@nestjs/common';

/** What a client is told of a request that can't be answered: a code for programs, a sentence for people. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
}

/** There is no reconciliation of this board to tell of. */
export class NoReconciliationError extends HttpException {
  constructor(
    readonly board: string,
    readonly known: readonly string[],
  ) {
    const others = known.length === 0 ? 'there are none at all' : `there are ${known.join(', ')}`;
    super(
      {
        code: 'NO_RECONCILIATION',
        message: `no reconciliation of board "${board}" is running or remembered; ${others}`,
      },
      HttpStatus.NOT_FOUND,
    );
  }
}

/** Redis, which would know, does not answer. Trying again helps. */
export class StoreUnavailableError extends HttpException {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      { code: 'STORE_UNAVAILABLE', message: `Redis does not answer (${reason}); try again` },
      HttpStatus.SERVICE_UNAVAILABLE,
      { cause },
    );
  }
}

// To add an error of Redis: add its class here. Errors of replicas are in redis-client.ts and
// lua/includes/base.lua. src/infra/redis.ts disconnects from a replica, and lists the errors that
// show that Redis is unavailable. src/query/http/problems.ts answers an error over HTTP, and
// src/cli/text/failures.ts has its exit code.

import { formatTime } from '#board';
import { RanklogError } from '#errors';
import type { Identity } from './types.js';

/** An error of the stores. `code` names it for programs. */
export abstract class BoardStoreError extends RanklogError {
  abstract readonly code: string;
}

export class BoardBuildingError extends BoardStoreError {
  readonly code = 'BOARD_BUILDING';
  override readonly retriable = true;

  constructor(readonly board: string) {
    super(
      `board "${board}" can't be read yet: it is being built from the log. "ranklog status" ` +
        'shows the progress; a process with the role reconciliation must run',
    );
  }
}

export class UnknownBoardError extends BoardStoreError {
  readonly code = 'UNKNOWN_BOARD';

  constructor(
    readonly board: string,
    readonly known: readonly string[],
  ) {
    const more = known.length > 20 ? `, and ${known.length - 20} more` : '';
    const names = `live boards: ${known.slice(0, 20).join(', ')}${more}`;
    const live = known.length === 0 ? 'no board is live' : names;
    super(`there is no board "${board}"; ${live}`);
  }
}

/** The board lacks the snapshot, or its live generation changed too often during one read. */
export class UnknownGenerationError extends BoardStoreError {
  readonly code = 'UNKNOWN_GENERATION';

  constructor(
    readonly board: string,
    readonly generation: string,
  ) {
    super(
      `board "${board}" has no generation ${generation} that can be read: only the live one ` +
        'and snapshots can. "ranklog boards generations" lists them',
    );
  }
}

/** A read of a view that has expired. Times in ms of event time. */
export class ExpiredViewError extends BoardStoreError {
  readonly code = 'EXPIRED_VIEW';

  constructor(
    readonly board: string,
    readonly view: string,
    readonly expiresAt: number,
    readonly clock: number,
  ) {
    super(
      `view "${view}" of board "${board}" has expired: it was kept until ` +
        `${formatTime(expiresAt)}, and the latest event of the board is of ${formatTime(clock)}`,
    );
  }
}

/** An argument of a read, such as a rank or cursor, is invalid or does not fit the board. */
export class InvalidReadError extends BoardStoreError {
  readonly code = 'INVALID_READ';

  constructor(
    readonly argument: string,
    problem: string,
  ) {
    super(`${argument}: ${problem}`);
  }
}

/** A listing of views, or an export, that can't go on. */
export class ListingInterruptedError extends BoardStoreError {
  readonly code = 'LISTING_INTERRUPTED';
  override readonly retriable = true;

  constructor(readonly board: string) {
    super(
      `cannot finish reading the views of board "${board}": another generation went live, or ` +
        'another Redis server answers, since the read began; begin again',
    );
  }
}

export class LeaseHeldError extends BoardStoreError {
  readonly code = 'LEASE_HELD';
  override readonly retriable = true;

  constructor(
    readonly board: string,
    readonly holder: string,
    /** How long the lease still lasts if its holder does not renew it. */
    readonly msLeft: number,
  ) {
    super(
      `board "${board}" is being reconciled by ${holder}, and only one process can at a time: ` +
        'wait for it ("ranklog status" shows its progress) or end it. If it was killed, its ' +
        `lease expires within ${Math.ceil(msLeft / 1_000)} s`,
    );
  }
}

/** The lease expired, or Redis lost it. This process has not written to the shadow since. */
export class LeaseLostError extends BoardStoreError {
  readonly code = 'LEASE_LOST';
  override readonly retriable: boolean;

  constructor(
    readonly board: string,
    /** The process that has worked on the board since, if any. */
    readonly takenOverBy?: string,
  ) {
    super(
      takenOverBy === undefined
        ? `the lease of board "${board}" was lost: this process was suspended, or Redis lost ` +
            'the lease; repeat the command'
        : `the lease of board "${board}" expired while this process was suspended, and ` +
            `${takenOverBy} took over the board; "ranklog status" shows the progress`,
    );
    this.retriable = takenOverBy === undefined;
  }
}

export class NoPreviousGenerationError extends BoardStoreError {
  readonly code = 'NO_PREVIOUS_GENERATION';

  constructor(readonly board: string) {
    super(
      `board "${board}" has no previous generation to roll back to: none was live before, or ` +
        'its grace time (RANKLOG_ROLLBACK_GRACE) is over',
    );
  }
}

export class OtherIdentityError extends BoardStoreError {
  readonly code = 'OTHER_IDENTITY';

  constructor(
    where: string,
    readonly kept: Partial<Identity>,
    readonly differences: readonly string[],
    /** False if Redis has another number of shards: this number decides the shard of each board. */
    readonly isMovable: boolean,
  ) {
    const adopt = 'make the settings of this process the stored ones with "ranklog topics --adopt"';
    const wayOut = isMovable
      ? adopt
      : 'to change the number of shards, end all processes, delete all keys in Redis that ' +
        `begin with RANKLOG_REDIS_PREFIX and a colon, then ${adopt}: a start builds the boards ` +
        'from the log';
    super(
      `${where} belongs to a ranklog with other settings: ${differences.join(', ')}. Two ` +
        'ranklogs would publish every result twice. Set the values that are stored there; or ' +
        wayOut,
    );
  }
}

/** Whether Redis refused a command or script, without any write, because its memory is full. */
export function isOutOfMemory(error: unknown): boolean {
  // Redis has no error code but the first word of the message.
  return error instanceof Error && error.message.startsWith('OOM ');
}

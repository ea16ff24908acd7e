import { RanklogError } from '#errors';

export const EXIT = {
  /** Done; the answer is yes. */
  ok: 0,
  /**
   * Done; the answer is no, or some of the input was bad. `start`: it could not go on, or its
   * shutdown was forced.
   */
  no: 1,
  /**
   * The command line, the settings or the boards file can't be used; or a topic, the log or a board
   * lacks what the command needs; or a batch of the log can't be read.
   */
  usage: 2,
  /**
   * Try again later: Kafka or Redis is unreachable, Redis is full or lost its boards, another
   * process works on the board, or a record is sent and not applied yet.
   */
  unreachable: 3,
  /** A bug, or a server that sends a wrong reply. */
  failed: 4,
  /**
   * Done, but the ranks may be wrong: Redis lacks events, or may lack some, until they are applied
   * again.
   */
  stale: 5,
  /**
   * Cancelled by Ctrl-C or SIGTERM; boards that were promoted or removed before stay so, and the
   * message names them.
   */
  cancelled: 130,
} as const;

/** The exit code of a read. A stale answer replaces `ok` and `no` by `stale`, with a warning. */
export function readCode(isStale: boolean, code: number = EXIT.ok): number {
  if (!isStale) return code;
  process.stderr.write(
    'ranklog: stale: Redis was restarted or replaced, and may lack events until they are ' +
      'applied again; "ranklog status" shows the progress\n',
  );
  return code === EXIT.unreachable ? code : EXIT.stale;
}

/** Ends a command with a message and an exit code. */
export class CommandError extends RanklogError {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** Exit codes of every command. */
export const EXIT = {
  /** Done; the answer is yes. */
  ok: 0,
  /** Done; the answer is no, or some of the input was bad. */
  no: 1,
  /** The command line, the settings or the boards file can't be used. */
  usage: 2,
  /** Kafka or Redis can't be reached, Redis is full, somebody else is at it, or time is up: trying again later helps. */
  unreachable: 3,
  /** Something that should not happen: a bug, or a server that answers nonsense. */
  failed: 4,
  /** Ended by Ctrl-C or SIGTERM before it was done; what it was to change is as it was. */
  cancelled: 130,
} as const;

/** Ends a command with a word to the user and an exit code. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
    this.name = 'CommandError';
  }
}

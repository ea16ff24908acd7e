/** A record that breaks the contract of its topic. A retry never helps. */
export class MalformedRecordError extends Error {
  override readonly name = 'MalformedRecordError';
  readonly code = 'MALFORMED_RECORD';
  readonly retriable = false;

  /** `expected` is a CloudEvents type, such as `ranklog.rank-changed.v1`. */
  constructor(
    readonly expected: string,
    readonly problems: string,
  ) {
    super(`not a ${expected}: ${problems}`);
  }
}

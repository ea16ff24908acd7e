/** A partition can't go on until an operator acts: a new process would fail as well. Retries help only after that. */
export class NeedsOperatorError extends Error {
  override readonly name = 'NeedsOperatorError';
}

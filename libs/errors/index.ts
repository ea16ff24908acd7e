/** The base of all errors of ranklog. */
export abstract class RanklogError extends Error {
  /** Whether the same call, or a new start, may succeed later. */
  readonly retriable: boolean = false;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

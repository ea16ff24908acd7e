/** The base of all errors of ranklog. */
export abstract class RanklogError extends Error {
  /** Whether the same call, or a new start, may succeed later. */
  readonly retriable: boolean = false;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A thrown value as an error: itself if it is one. */
export function toError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(String(thrown));
}

/** Whether a value has the fields of an error: `instanceof` fails for errors of another realm. */
export function isError(value: unknown): value is Error {
  const { name, message } = Object(value) as Record<string, unknown>;
  return typeof name === 'string' && typeof message === 'string';
}

/** Like Promise.all, but settles only when all promises have settled. */
export async function allOf<T>(work: Iterable<T>): Promise<Awaited<T>[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

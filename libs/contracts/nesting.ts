/** Deepest nesting of an event: objects and arrays inside each other, the event itself counted. */
export const MOST_LEVELS = 100;

/**
 * Whether a JSON value is nested more deeply than MOST_LEVELS. A fixed limit, so that the verdict on a record never
 * depends on how much stack the reader has left. Cost: linear in the value.
 */
export function nestsTooDeeply(value: unknown): boolean {
  let level = containersIn([value]);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return true;
    level = containersIn(level.flatMap((container) => Object.values(container) as unknown[]));
  }
  return false;
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}

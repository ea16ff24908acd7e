/** Deepest nesting of an event: objects and arrays inside each other, the event itself counted. */
export const MOST_LEVELS = 100;

/**
 * Whether an object or array is nested more deeply than MOST_LEVELS. A fixed limit, so that the verdict on a record
 * never depends on how much stack the reader has left. Cost: linear in the value.
 */
export function nestsTooDeeply(value: object, levelsLeft = MOST_LEVELS): boolean {
  if (levelsLeft === 0) return true;
  const isTooDeep = (child: unknown) =>
    typeof child === 'object' && child !== null && nestsTooDeeply(child, levelsLeft - 1);
  if (Array.isArray(value)) return value.some(isTooDeep);
  const fields = value as Record<string, unknown>;
  for (const name in fields) if (isTooDeep(fields[name])) return true;
  return false;
}

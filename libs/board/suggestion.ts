import { distance } from 'fastest-levenshtein';

/**
 * `; did you mean X?` for a known name X that is similar, ignoring case, or ends with `:NAME` (as
 * `season:NAME`); else ''.
 */
export function suggestion(name: string, known: readonly string[]): string {
  const ofKind = known.find((other) => name !== '' && other.endsWith(`:${name}`));
  const meant = ofKind ?? nearNames(name, known, 1)[0];
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/**
 * Known names that are similar to a misspelt one, the most similar first.
 * Cost: about 1 µs per known name.
 */
export function nearNames(name: string, known: Iterable<string>, most: number): string[] {
  const misspelt = name.toLowerCase();
  const mostEdits = Math.max(2, name.length / 3);
  return Array.from(known, (other) => ({ other, edits: distance(misspelt, other.toLowerCase()) }))
    .filter(({ edits }) => edits <= mostEdits)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, most)
    .map(({ other }) => other);
}

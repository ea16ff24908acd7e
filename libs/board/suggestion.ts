import { closest, distance } from 'fastest-levenshtein';

/** "; did you mean X?" when one of the known names is near, whatever the case of its letters: `season:spring` for `spring`, too. */
export function suggestion(name: string, known: readonly string[]): string {
  const ofKind = known.find((one) => name !== '' && one.endsWith(`:${name}`));
  if (ofKind !== undefined) return `; did you mean ${ofKind}?`;
  const inLowerCase = known.map((one) => one.toLowerCase());
  const nearest = known.length === 0 ? '' : closest(name.toLowerCase(), inLowerCase);
  const meant = known[inLowerCase.indexOf(nearest)];
  return meant !== undefined && isNear(name, meant) ? `; did you mean ${meant}?` : '';
}

/** Known names that are close to a misspelled one, nearest first. Cost: about 1 us for each known name. */
export function nearNames(name: string, known: Iterable<string>, most: number): string[] {
  return Array.from(known, (other) => ({ other, slips: slipsBetween(name, other) }))
    .filter(({ slips }) => slips <= mostSlips(name))
    .sort((a, b) => a.slips - b.slips)
    .slice(0, most)
    .map(({ other }) => other);
}

/** Whether one name may be a slip for the other. */
export function isNear(name: string, other: string): boolean {
  return slipsBetween(name, other) <= mostSlips(name);
}

function slipsBetween(name: string, other: string): number {
  return distance(name.toLowerCase(), other.toLowerCase());
}

function mostSlips(name: string): number {
  return Math.max(2, name.length / 3);
}

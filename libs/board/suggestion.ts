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

/** Whether one name may be a slip for the other. */
export function isNear(name: string, other: string): boolean {
  const slips = distance(name.toLowerCase(), other.toLowerCase());
  return slips <= Math.max(2, name.length / 3);
}

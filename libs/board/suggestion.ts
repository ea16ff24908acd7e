import { closest, distance } from 'fastest-levenshtein';

/** "; did you mean X?" when one of the known names is near, whatever the case of its letters. */
export function suggestion(name: string, known: readonly string[]): string {
  const inLowerCase = known.map((one) => one.toLowerCase());
  const asked = name.toLowerCase();
  const nearest = inLowerCase.length === 0 ? '' : closest(asked, inLowerCase);
  const near = distance(asked, nearest) <= Math.max(2, name.length / 3);
  const meant = near ? known[inLowerCase.indexOf(nearest)] : undefined;
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

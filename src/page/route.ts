import type { HttpView } from '#http';

/**
 * What the page shows of a board. It is the hash of the URL, so that a link shows the same again.
 */
export interface Route {
  readonly board: string;
  /**
   * As in a listing, or with a relative window: `week region=eu`. Undefined: the first one of the
   * listing.
   */
  readonly view?: string | undefined;
  readonly player?: string | undefined;
  /** The rank of the first row; undefined: 1. */
  readonly from?: number | undefined;
}

export function routeOf(hash: string): Route {
  const { board = '', view, player, from } = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  return { board, view, player, from: Number(from) > 1 ? Number(from) : undefined };
}

export const hashOf = (route: Route) => `#${queryOf(route)}`;

/** Parameters of a URL, of the fields that are defined. */
export function queryOf(fields: object): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as string[][]).toString();
}

/** The window of a view, named '', and its dimensions, by name. */
type Parts = Readonly<Record<string, string>>;
type Choice = readonly [name: string, value: string];

export function partsOf(view: string): Parts {
  const [window = '', ...pairs] = view.split(' ');
  return { '': window, ...Object.fromEntries(new URLSearchParams(pairs.join('&'))) };
}

const INSTANCE = /^(day|week|month|year|interval:[^@ ]+)[:@][^ ]+/;

/**
 * The views of a listing; before each with an instance of a window, the view of the current
 * instance, such as `week region=eu`.
 */
export function choicesOf(listing: readonly HttpView[]): string[] {
  return [...new Set(listing.flatMap(({ view }) => [view.replace(INSTANCE, '$1'), view]))];
}

/**
 * The values to choose from, by part: those of views that have the values of `parts` for the parts
 * before it ('': none).
 */
export function valuesOf(choices: readonly string[], parts: Parts): [name: string, string[]][] {
  let possible = choices.map(partsOf);
  const names = [...new Set(possible.flatMap((one) => Object.keys(one)))];
  return names.map((name) => {
    const values = [...possible, parts].map((one) => one[name] ?? '');
    possible = possible.filter((one) => one[name] === parts[name]);
    return [name, [...new Set(values)].sort()];
  });
}

/**
 * The view that differs least from `parts` but has this value ('': none); of several, the last one.
 */
export function nearest(choices: readonly string[], parts: Parts, [name, value]: Choice) {
  let [nearest, least] = [undefined as string | undefined, Infinity];
  for (const view of choices) {
    const one = partsOf(view);
    if ((one[name] ?? '') !== value) continue;
    const differing = Object.keys({ ...one, ...parts }).filter((key) => one[key] !== parts[key]);
    if (differing.length <= least) [nearest, least] = [view, differing.length];
  }
  return nearest;
}

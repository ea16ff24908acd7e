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
 * The views of a listing. Before each view of a window's instance comes the view of the current
 * instance, such as `week region=eu`.
 */
export function choicesOf(listing: readonly HttpView[]): string[] {
  return [...new Set(listing.flatMap(({ view }) => [view.replace(INSTANCE, '$1'), view]))];
}

/**
 * The values to choose from, by part. A value is offered if a view has it together with the values
 * that `parts` has for all parts before. The empty text stands for no value.
 */
export function valuesOf(choices: readonly string[], parts: Parts): [name: string, string[]][] {
  let possible = choices.map(partsOf);
  const names = [...new Set(possible.flatMap((view) => Object.keys(view)))];
  return names.map((name) => {
    const values = [...possible, parts].map((view) => view[name] ?? '');
    possible = possible.filter((view) => view[name] === parts[name]);
    return [name, [...new Set(values)].sort()];
  });
}

/**
 * The view with this value that differs least from `parts`; of several, the last one. The empty
 * text stands for no value.
 */
export function nearest(choices: readonly string[], parts: Parts, [name, value]: Choice) {
  let nearest: string | undefined;
  let least = Infinity;
  for (const view of choices) {
    const own = partsOf(view);
    if ((own[name] ?? '') !== value) continue;

    const differing = Object.keys({ ...own, ...parts }).filter((key) => own[key] !== parts[key]);
    if (differing.length <= least) {
      nearest = view;
      least = differing.length;
    }
  }
  return nearest;
}

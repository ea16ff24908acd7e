import type { HttpView } from '#http';

type Where = Readonly<Record<string, string>>;

/** What the page shows of a board. It is the hash of the URL, so that a link shows the same again. */
export interface Route {
  readonly board: string;
  /** The name of a window, also a relative one; undefined: the page chooses a view. */
  readonly window?: string | undefined;
  /** A value for each dimension. */
  readonly where: Where;
  readonly player?: string | undefined;
  /** The rank of the first row. */
  readonly from: number;
}

/** Reads a hash; what it lacks has its default. */
export function routeOf(hash: string): Route {
  const fields = new URLSearchParams(hash.slice(1));
  const where = [...fields].filter(([name]) => name.startsWith('where.'));
  return {
    board: fields.get('board') ?? '',
    window: fields.get('window') ?? undefined,
    where: Object.fromEntries(where.map(([name, value]) => [name.slice(6), value])),
    player: fields.get('player') ?? undefined,
    from: Math.max(1, Math.floor(Number(fields.get('from'))) || 1),
  };
}

/** The hash of a board, without defaults. */
export function hashOf({ where = {}, from = 1, ...route }: Partial<Route>): string {
  return `#${queryOf({ ...route, from: from > 1 ? from : undefined }, where)}`;
}

/** Parameters of a URL, with a dimension as `where.NAME`. */
export function queryOf(fields: object, where: Where): string {
  const dimensions = Object.entries(where).map(([name, value]) => [`where.${name}`, value]);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams([...given, ...dimensions] as string[][]).toString();
}

/** The fields of a definition that the page shows, as in a boards file. */
export interface Board {
  readonly board: string;
  readonly columns: readonly { readonly name: string }[];
  readonly windows: readonly (string | { window?: string; season?: string; interval?: string })[];
  readonly dimensions: readonly (readonly string[])[];
}

/** Names of windows: the current instance of each, then those of views, the latest first. */
export function windowsOf(board: Board, views: readonly HttpView[]): string[] {
  const current = board.windows.map((one) => {
    if (typeof one === 'string') return one;
    return one.window ?? (one.season ? `season:${one.season}` : `interval:${one.interval}`);
  });
  const instances = views.map(({ view }) => view.split(' ')[0] ?? '').sort();
  return [...new Set([...current, ...instances.reverse()])];
}

/** The values of a dimension in views with the values of `where` for the dimensions before it; '' if one of them lacks it. */
export function valuesOf(views: readonly HttpView[], where: Where, name: string): string[] {
  const before = Object.entries(where).slice(0, Math.max(0, Object.keys(where).indexOf(name)));
  const found = placesOf(views).filter((one) => before.every(([key, own]) => one[key] === own));
  return [...new Set(found.map((one) => one[name] ?? ''))].sort();
}

/** The dimensions of the view that differs least from `where` but has these values ('': none); of several, of the last changed. */
export function nearest(views: readonly HttpView[], where: Where, values: Where = {}): Where {
  const differing = (one: Where) =>
    Object.keys({ ...one, ...where }).filter((name) => one[name] !== where[name]).length;
  const [found = where] = placesOf(views)
    .filter((one) => Object.entries(values).every(([name, value]) => (one[name] ?? '') === value))
    .sort((one, other) => differing(one) - differing(other));
  return found;
}

/** The dimensions of each view, the view that changed last first. */
function placesOf(views: readonly HttpView[]): Where[] {
  return views
    .toSorted((a, b) => b.version - a.version)
    .map(({ view }) => new URLSearchParams(view.split(' ').slice(1).join('&')))
    .map((pairs) => Object.fromEntries(pairs));
}

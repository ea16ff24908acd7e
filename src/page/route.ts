import type { HttpView } from '#http';

type Where = Readonly<Record<string, string>>;

/** What the page shows. It is the hash of the URL, so that a link shows the same again. */
export interface Route {
  readonly page: 'boards' | 'board' | 'operations';
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
  const board = fields.get('board') ?? '';
  const otherPage = fields.has('operations') ? 'operations' : 'boards';
  const where = [...fields].filter(([name]) => name.startsWith('where.'));
  return {
    page: board === '' ? otherPage : 'board',
    board,
    window: fields.get('window') ?? undefined,
    where: Object.fromEntries(where.map(([name, value]) => [name.slice(6), value])),
    player: fields.get('player') ?? undefined,
    from: Math.max(1, Math.floor(Number(fields.get('from'))) || 1),
  };
}

/** The hash of a board, without defaults. */
export function hashOf({ board, window, where = {}, player, from = 1 }: Partial<Route>): string {
  const fields = { board, window, player, from: from > 1 ? String(from) : undefined };
  const dimensions = Object.entries(where).map(([name, value]) => [`where.${name}`, value]);
  const all = [...Object.entries(fields).filter(([, value]) => value !== undefined), ...dimensions];
  return `#${new URLSearchParams(all as string[][]).toString()}`;
}

/** The fields of a definition that the page shows, as in a boards file. */
export interface Board {
  readonly board: string;
  readonly columns: readonly { readonly name: string }[];
  readonly windows: readonly (string | { window?: string; season?: string; interval?: string })[];
  readonly dimensions: readonly (readonly string[])[];
}

/** Names of windows with their labels: the current and the previous instance of each, then those of views, the latest first. */
export function windowChoices(board: Board, views: readonly HttpView[]): [string, string?][] {
  const relative = board.windows.flatMap((window): [string, string][] => {
    const {
      window: kind = '',
      season,
      interval,
    } = typeof window === 'string' ? { window } : window;
    if (kind === 'all') return [['all', 'All time']];
    if (season !== undefined) return [[`season:${season}`, `Season ${season}`]];
    const [name, mark] = interval === undefined ? [kind, ':'] : [`interval:${interval}`, '@'];
    const label = interval ?? kind;
    return [
      [name, `Current ${label}`],
      [`${name}${mark}previous`, `Previous ${label}`],
    ];
  });
  const known = new Set(relative.map(([name]) => name));
  const named = new Set(views.map(({ view }) => view.split(' ')[0] ?? ''));
  return [
    ...relative,
    ...[...named]
      .filter((name) => !known.has(name))
      .sort()
      .reverse()
      .map((name): [string] => [name]),
  ];
}

/** The values of a dimension in views with the dimensions of `where`, and with the same values before this one. */
export function valuesOf(views: readonly HttpView[], where: Where, dimension: string): string[] {
  const names = Object.keys(where);
  const before = names.slice(0, names.indexOf(dimension));
  const found = rankedBy(views, names).filter((one) =>
    before.every((name) => one[name] === where[name]),
  );
  return [...new Set(found.map((one) => one[dimension] ?? ''))].sort();
}

/** Values for these dimensions: those of `where` as far as a view has them, the others from the view that changed last. */
export function completed(
  views: readonly HttpView[],
  names: readonly string[],
  where: Where,
): Where {
  let found = rankedBy(views, names);
  for (const name of names) {
    const kept = found.filter((one) => one[name] === where[name]);
    if (kept.length > 0) found = kept;
  }
  return found[0] ?? {};
}

/** The dimensions of the views that have exactly these, the view that changed last first. */
function rankedBy(views: readonly HttpView[], names: readonly string[]): Where[] {
  return [...views]
    .sort((a, b) => b.version - a.version)
    .map(({ view }) =>
      view
        .split(' ')
        .slice(1)
        .map((pair) => pair.split('=')),
    )
    .filter((pairs) => pairs.map(([name]) => name).join(' ') === names.join(' '))
    .map(
      (pairs) =>
        Object.fromEntries(
          pairs.map(([name, value = '']) => [name, decodeURIComponent(value)]),
        ) as Where,
    );
}

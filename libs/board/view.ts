import { windowName, type BoardDefinition } from './definition.js';
import { windowsAt } from './windows.js';

/** One ranking of a board: a window instance and the values of one combination of dimensions, in the definition's order. */
export interface View {
  /** Such as `all` or `week:2026-W47`: see the texts of WindowInstance. */
  readonly window: string;
  readonly where: readonly (readonly [name: string, value: string])[];
}

/** Attributes of an event: a dimension takes each of several values. */
export type Attributes = Readonly<Record<string, string | readonly string[]>>;

/** A view that an event moves. `expiresAt` is in ms of the board's event clock; null: never. */
export interface ResolvedView {
  readonly view: string;
  readonly expiresAt: number | null;
  readonly published: boolean;
}

/** Most views that one event may move. */
export const MOST_VIEWS_OF_AN_EVENT = 256;

/** A text that names no view. `text` is what was given. */
export class MalformedViewError extends Error {
  constructor(readonly text: string) {
    super(
      `${JSON.stringify(text)} is not a view; write window( name=value)*, values percent-encoded, for example "all" or "week:2026-W47 league=en.1 season=2019-20"`,
    );
    this.name = 'MalformedViewError';
  }
}

/** `all league=en.1 season=2019-20`: the one spelling of a view, used in keys, events, commands. */
export function formatView({ window, where }: View): string {
  return window + where.map(([name, value]) => ` ${name}=${encodeURIComponent(value)}`).join('');
}

/** The view that a text names. @throws MalformedViewError unless the text is what formatView would write. */
export function parseView(text: string): View {
  const [window = '', ...pairs] = text.split(' ');
  if (window === '') throw new MalformedViewError(text);
  const view: View = { window, where: pairs.map((pair) => parsePair(pair, text)) };
  if (formatView(view) !== text) throw new MalformedViewError(text);
  return view;
}

function parsePair(pair: string, text: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new MalformedViewError(text);
  try {
    return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
  } catch {
    throw new MalformedViewError(text);
  }
}

export type ResolvedViews =
  | { readonly ok: true; readonly views: readonly ResolvedView[] }
  | { readonly ok: false; readonly missing: string }
  | { readonly ok: false; readonly tooMany: number };

/**
 * The views that an event with these attributes at this time moves, or the first dimension that it lacks, or how many
 * views it would be when that is too many. Cost: linear in the views.
 */
export function viewsOf(
  definition: BoardDefinition,
  attributes: Attributes,
  time: number,
): ResolvedViews {
  const instances = windowsAt(definition, time);
  const present = instances.filter((instance) => instance !== undefined).length;
  const published = publishedParts(definition);
  const views: ResolvedView[] = [];
  for (const [combination, names] of definition.dimensions.entries()) {
    const values = valuesOf(names, attributes);
    if ('missing' in values) return { ok: false, missing: values.missing };
    const count = values.lists.reduce((product, list) => product * list.length, present);
    if (views.length + count > MOST_VIEWS_OF_AN_EVENT) return { ok: false, tooMany: count };
    const places = combinations(names, values.lists);
    for (const [index, instance] of instances.entries()) {
      if (instance === undefined) continue;
      const shown = published.windows[index] === true && published.dimensions[combination] === true;
      for (const place of places)
        views.push({
          view: instance.text + place,
          expiresAt: instance.expiresAt,
          published: shown,
        });
    }
  }
  return { ok: true, views };
}

/** The distinct values of each attribute, or the first one that is missing. */
function valuesOf(
  names: readonly string[],
  attributes: Attributes,
): { lists: (readonly string[])[] } | { missing: string } {
  const lists: (readonly string[])[] = [];
  for (const name of names) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (value === undefined) return { missing: name };
    lists.push(typeof value === 'string' ? [value] : [...new Set(value)]);
  }
  return { lists };
}

/** ` name=value` for each choice of values, the last name changing fastest. */
function combinations(names: readonly string[], lists: readonly (readonly string[])[]): string[] {
  let places = [''];
  for (const [index, name] of names.entries())
    places = places.flatMap((place) =>
      (lists[index] ?? []).map((value) => `${place} ${name}=${encodeURIComponent(value)}`),
    );
  return places;
}

interface PublishedParts {
  readonly windows: readonly boolean[];
  readonly dimensions: readonly boolean[];
}
const publishedOf = new WeakMap<BoardDefinition, PublishedParts>();

/** Which windows and which combinations are published, by their places in the definition. */
function publishedParts(definition: BoardDefinition): PublishedParts {
  let parts = publishedOf.get(definition);
  if (parts === undefined) {
    const { windows, dimensions, publish } = definition;
    const combination = (names: readonly string[]) => names.join(' ');
    const wanted = publish.dimensions?.map(combination);
    parts = {
      windows: windows.map((window) => publish.windows?.includes(windowName(window)) ?? true),
      dimensions: dimensions.map((names) => wanted?.includes(combination(names)) ?? true),
    };
    publishedOf.set(definition, parts);
  }
  return parts;
}

import { WINDOWS, type BoardDefinition, type Window } from './definition.js';

/** One ranking of a board: a window instance and the values of one combination of dimensions, in the definition's order. */
export interface View {
  readonly window: Window;
  readonly where: readonly (readonly [name: string, value: string])[];
}

/** A text that names no view. `text` is what was given. */
export class MalformedViewError extends Error {
  constructor(readonly text: string) {
    super(
      `${JSON.stringify(text)} is not a view; write window( name=value)*, values percent-encoded, for example "all" or "all league=en.1 season=2019-20"`,
    );
    this.name = 'MalformedViewError';
  }
}

/** `all league=en.1 season=2019-20`: the one spelling of a view, used in keys, events, commands. */
export function formatView({ window, where }: View): string {
  return [window, ...where.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)].join(
    ' ',
  );
}

/** The view that a text names. @throws MalformedViewError unless the text is what formatView would write. */
export function parseView(text: string): View {
  const [window, ...pairs] = text.split(' ');
  if (!isWindow(window)) throw new MalformedViewError(text);
  const view: View = { window, where: pairs.map((pair) => parsePair(pair, text)) };
  if (formatView(view) !== text) throw new MalformedViewError(text);
  return view;
}

/** Views that an event with these attributes belongs to, or the first dimension that it lacks. Cost: windows x dimensions. */
export function viewsOf(
  { windows, dimensions }: BoardDefinition,
  attributes: Readonly<Record<string, string>>,
): { ok: true; views: string[] } | { ok: false; missing: string } {
  const views: string[] = [];
  for (const names of dimensions) {
    const missing = names.find((name) => !Object.hasOwn(attributes, name));
    if (missing !== undefined) return { ok: false, missing };
    const where = names.map((name) => [name, attributes[name] ?? ''] as const);
    for (const window of windows) views.push(formatView({ window, where }));
  }
  return { ok: true, views };
}

function isWindow(text: string | undefined): text is Window {
  return (WINDOWS as readonly (string | undefined)[]).includes(text);
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

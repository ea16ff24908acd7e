import { InvalidArgumentError } from 'commander';
import { formatView, MalformedViewError, parseView, type BoardDefinition, type View } from '#board';
import { CommandError, EXIT } from './exit-codes.js';

/** Options that name a view. */
export interface ViewOptions {
  readonly view?: string;
  readonly window?: string;
  readonly where?: readonly (readonly [string, string])[];
}

/** Collects `--where name=value`. */
export function collectWhere(
  text: string,
  before: readonly (readonly [string, string])[] = [],
): (readonly [string, string])[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write --where name=value');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

/** The view that the options name; the overall one when they name none. The order of dimensions does not matter. */
export function viewOf(
  definition: BoardDefinition,
  { view, window = 'all', where = [] }: ViewOptions,
): string {
  try {
    const asked =
      view === undefined
        ? parseView(formatView({ window: window as View['window'], where }))
        : parseView(view);
    return formatView({ ...asked, where: inOrder(definition, asked.where) });
  } catch (error) {
    if (error instanceof MalformedViewError) throw new CommandError(error.message, EXIT.usage);
    throw error;
  }
}

/** Names and values in the definition's order. @throws CommandError when the board has no such combination */
function inOrder(definition: BoardDefinition, where: View['where']): View['where'] {
  const given = new Map(where);
  const names = definition.dimensions.find(
    (dimension) => dimension.length === given.size && dimension.every((name) => given.has(name)),
  );
  if (names === undefined)
    throw new CommandError(noSuchDimension(definition, [...given.keys()]), EXIT.usage);
  return names.map((name) => [name, given.get(name) ?? ''] as const);
}

function noSuchDimension({ board, dimensions }: BoardDefinition, given: readonly string[]): string {
  const known = dimensions.map((names) =>
    names.length === 0 ? 'overall (no --where)' : names.join(' and '),
  );
  const asked =
    given.length === 0 ? 'has no overall ranking' : `is not ranked by ${given.join(' and ')}`;
  return `board "${board}" ${asked}; it is ranked: ${known.join('; ')}`;
}

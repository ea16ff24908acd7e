import type { Problem } from './boards-file-problem.js';
import { BOARDS_FILE_SCHEMA } from './definition-schema.js';
import type { BoardText } from './read-board.js';

const { properties } = BOARDS_FILE_SCHEMA.properties.boards.additionalProperties;
const DEFAULTS = new Map<string, unknown>(
  Object.entries(properties).map(([field, schema]) => [
    field,
    'default' in schema ? schema.default : undefined,
  ]),
);

/**
 * A board without what the schema has refused, so that the rest of it can be looked at: entries of its columns and
 * windows are undefined in place, other fields at their defaults. Names of windows and dimensions are referred to by
 * `publish`, which is silent about them when some are not known. undefined for what is no board at all.
 */
export function soundParts(
  text: unknown,
  board: string,
  refused: readonly Problem[],
): BoardText | undefined {
  if (typeof text !== 'object' || text === null || Array.isArray(text)) return undefined;
  const sound: Record<string, unknown> = { columns: [], ...text };
  const fields = refused
    .filter(({ path, key }) => path[1] === board && key === undefined)
    .map(({ path }) => path.slice(2));
  for (const [field, index] of fields)
    if (field !== undefined) sound[field] = withoutPart(String(field), sound[field], index);
  for (const referred of ['windows', 'dimensions'])
    if (fields.some(([field]) => field === referred))
      sound['publish'] = { ...(sound['publish'] as object), [referred]: undefined };
  // The schema holds for what is left.
  return sound as unknown as BoardText;
}

function withoutPart(field: string, value: unknown, index: string | number | undefined): unknown {
  const entries = (field === 'columns' || field === 'windows') && Array.isArray(value);
  if (entries && typeof index === 'number')
    return value.map((entry: unknown, at) => (at === index ? undefined : entry));
  if (field === 'columns') return [];
  return DEFAULTS.get(field);
}

import { stringify } from 'yaml';
import { boardFields, windowName, type BoardDefinition } from '#board';

/** A field of a board that differs between two definitions. */
export interface FieldChange {
  /**
   * Such as `ties`, `columns`, `columns.score.decimals`, `windows.week.keep`, `publish.leaders`.
   */
  readonly field: string;
  /** As a boards file writes the value; null if the field is not set. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * The differences between two definitions of a board, in the order of the new one; fields that only
 * the old one has come last.
 */
export function fieldChanges(before: BoardDefinition, after: BoardDefinition): FieldChange[] {
  const [old, now] = [fieldTexts(before), fieldTexts(after)];
  return [...new Set([...now.keys(), ...old.keys()])]
    .map((field) => ({ field, before: old.get(field) ?? null, after: now.get(field) ?? null }))
    .filter((change) => change.before !== change.after);
}

/** Whether only `publish` differs, so that every rank stays the same. */
export function isPublishOnly(changes: readonly FieldChange[]): boolean {
  return changes.length > 0 && changes.every(({ field }) => field.startsWith('publish.'));
}

/**
 * The fields of a definition in one line each. A missing `publish.windows` or `publish.dimensions`
 * means all.
 */
function fieldTexts(definition: BoardDefinition): ReadonlyMap<string, string> {
  const { columns, windows, publish, ...others } = boardFields(definition);
  const windowNames = definition.windows.map(windowName);
  const fields: [field: string, value: unknown][] = [
    ['columns', columns.map(({ name }) => name)],
    ...columns.flatMap(({ name, ...column }) => under(`columns.${name}`, column)),
    ['windows', windowNames],
    ...windows.flatMap((window, index) =>
      typeof window === 'string' ? [] : under(`windows.${windowNames[index] ?? ''}`, window),
    ),
    ...Object.entries(others),
    ...under('publish', {
      ...publish,
      windows: definition.publish.windows,
      dimensions: definition.publish.dimensions,
    }),
  ];
  return new Map(
    fields.flatMap(([field, value]) => (value === undefined ? [] : [[field, valueText(value)]])),
  );
}

function under(parent: string, fields: object): [field: string, value: unknown][] {
  return Object.entries(fields)
    .filter(([name]) => !['window', 'season', 'interval'].includes(name)) // the name of a window
    .map(([name, value]: [string, unknown]) => [`${parent}.${name}`, value]);
}

function valueText(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trimEnd();
}

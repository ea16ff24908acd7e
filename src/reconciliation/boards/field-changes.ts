import { stringify } from 'yaml';
import { boardFields, windowName, type BoardDefinition } from '#board';

/** A field of a board that differs between two definitions. */
export interface FieldChange {
  /** Such as `ties`, `columns.score.decimals`, `windows.week.keep`, `publish.leaders`. */
  readonly field: string;
  /** The value as in a boards file; null if the field is not set. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * The differences between two definitions of a board, in the order of the new one. Fields that only
 * the old definition has come last.
 */
export function fieldChanges(before: BoardDefinition, after: BoardDefinition): FieldChange[] {
  const textsBefore = fieldTexts(before);
  const textsAfter = fieldTexts(after);
  const changes: FieldChange[] = [];
  for (const field of new Set([...textsAfter.keys(), ...textsBefore.keys()])) {
    const textBefore = textsBefore.get(field) ?? null;
    const textAfter = textsAfter.get(field) ?? null;
    if (textBefore !== textAfter) changes.push({ field, before: textBefore, after: textAfter });
  }
  return changes;
}

/** Whether only `publish` differs, so that every rank stays the same. */
export function isPublishOnly(changes: readonly FieldChange[]): boolean {
  return changes.length > 0 && changes.every(({ field }) => field.startsWith('publish.'));
}

/**
 * The fields of a definition, each as a line. A definition without `publish.windows` or
 * `publish.dimensions` publishes all of them.
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
  const texts = new Map<string, string>();
  for (const [field, value] of fields) if (value !== undefined) texts.set(field, valueText(value));
  return texts;
}

/** The fields of a window that name it. */
const NAMING = ['window', 'season', 'interval'];

/** Puts the name of the parent before the names of its fields. Leaves out those that name it. */
function under(parent: string, fields: object): [field: string, value: unknown][] {
  const named = Object.entries(fields) as [string, unknown][];
  const others = named.filter(([name]) => !NAMING.includes(name));
  return others.map(([name, value]) => [`${parent}.${name}`, value]);
}

function valueText(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trimEnd();
}

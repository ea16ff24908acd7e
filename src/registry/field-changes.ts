import { stringify } from 'yaml';
import { boardFields, windowName, type BoardDefinition } from '#board';

/** A field of a board that two definitions give differently, in the words of a boards file. */
export interface FieldChange {
  /** Such as `ties`, `columns`, `columns.score.decimals`, `windows.week.keep`, `publish.leaders`. */
  readonly field: string;
  /** As a boards file writes the value; null where the field is not set. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Fields by name, and the parts of a list by theirs. */
type Fields = Readonly<Record<string, unknown>>;
type Parts = ReadonlyMap<string, Fields>;

/** How two definitions of a board differ, in the order of a boards file; empty when they say the same. */
export function fieldChanges(before: BoardDefinition, after: BoardDefinition): FieldChange[] {
  const [old, now] = [plainFields(before), plainFields(after)];
  return [
    ...partChanges('columns', columnParts(before), columnParts(after)),
    ...partChanges('windows', windowParts(before), windowParts(after)),
    ...valueChanges('', old.board, now.board),
    ...valueChanges('publish.', old.publish, now.publish),
  ];
}

/** Whether nothing but what is published differs, so that every rank stays as it is. */
export function isPublishOnly(changes: readonly FieldChange[]): boolean {
  return changes.length > 0 && changes.every(({ field }) => field.startsWith('publish.'));
}

/** Fields that are told by their parts. */
const WITH_PARTS = ['columns', 'windows', 'publish'];

/** The other fields, and those of `publish`, where what is left out stands for all. */
function plainFields(definition: BoardDefinition): { board: Fields; publish: Fields } {
  const fields = boardFields(definition);
  const { windows, dimensions } = definition.publish;
  return {
    board: Object.fromEntries(
      Object.entries(fields).filter(([name]) => !WITH_PARTS.includes(name)),
    ),
    publish: { ...fields.publish, windows, dimensions },
  };
}

function columnParts(definition: BoardDefinition): Parts {
  const { columns } = boardFields(definition);
  return new Map(columns.map(({ name, ...fields }) => [name, fields]));
}

function windowParts(definition: BoardDefinition): Parts {
  const { windows } = boardFields(definition);
  return new Map(
    definition.windows.map((window, index) => [windowName(window), fieldsOf(windows[index])]),
  );
}

/** What a window says beside its name. */
function fieldsOf(window: ReturnType<typeof boardFields>['windows'][number] | undefined): Fields {
  if (window === undefined || typeof window === 'string') return {};
  const named = ['window', 'season', 'interval'];
  return Object.fromEntries(Object.entries(window).filter(([name]) => !named.includes(name)));
}

/** The names of the parts when they differ, then the fields of each part. */
function partChanges(field: string, before: Parts, after: Parts): FieldChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return [
    ...valueChanges('', { [field]: [...before.keys()] }, { [field]: [...after.keys()] }),
    ...names.flatMap((name) => {
      const [old, now] = [before.get(name), after.get(name)];
      const place = `${field}.${name}`;
      if (old !== undefined && now !== undefined) return valueChanges(`${place}.`, old, now);
      return valueChanges('', { [place]: unlessEmpty(old) }, { [place]: unlessEmpty(now) });
    }),
  ];
}

function unlessEmpty(fields: Fields | undefined): Fields | undefined {
  return fields === undefined || Object.keys(fields).length === 0 ? undefined : fields;
}

function valueChanges(prefix: string, before: Fields, after: Fields): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({
      field: prefix + name,
      before: valueText(before[name]),
      after: valueText(after[name]),
    }))
    .filter((change) => change.before !== change.after);
}

/** A value as a boards file may write it, in one line. */
function valueText(value: unknown): string | null {
  if (value === undefined) return null;
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trimEnd();
}

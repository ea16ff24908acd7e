import { stringify } from 'yaml';
import { boardFields, windowName, type BoardDefinition } from '#board';

/** A field of a board that differs between two definitions. */
export interface FieldChange {
  /** Such as `ties`, `columns`, `columns.score.decimals`, `windows.week.keep`, `publish.leaders`. */
  readonly field: string;
  /** As a boards file writes the value; null if the field is not set. */
  readonly before: string | null;
  readonly after: string | null;
}

type Fields = Readonly<Record<string, unknown>>;
/** The fields of each column or window, by name. */
type Parts = ReadonlyMap<string, Fields>;

/** The differences between two definitions of a board, in the order of a boards file. */
export function fieldChanges(before: BoardDefinition, after: BoardDefinition): FieldChange[] {
  const [old, now] = [otherFields(before), otherFields(after)];
  return [
    ...partChanges('columns', columnParts(before), columnParts(after)),
    ...partChanges('windows', windowParts(before), windowParts(after)),
    ...valueChanges('', old.board, now.board),
    ...valueChanges('publish.', old.publish, now.publish),
  ];
}

/** Whether only `publish` differs, so that every rank stays the same. */
export function isPublishOnly(changes: readonly FieldChange[]): boolean {
  return changes.length > 0 && changes.every(({ field }) => field.startsWith('publish.'));
}

/** The fields without parts, and those of `publish`. A missing `publish.windows` or `publish.dimensions` means all. */
function otherFields(definition: BoardDefinition): { board: Fields; publish: Fields } {
  const fields = boardFields(definition);
  const { windows, dimensions } = definition.publish;
  return {
    board: { ...fields, columns: undefined, windows: undefined, publish: undefined },
    publish: { ...fields.publish, windows, dimensions },
  };
}

function columnParts(definition: BoardDefinition): Parts {
  const { columns } = boardFields(definition);
  return new Map(columns.map(({ name, ...fields }) => [name, fields]));
}

function windowParts(definition: BoardDefinition): Parts {
  const { windows } = boardFields(definition);
  const names = definition.windows.map(windowName);
  return new Map(windows.map((window, index) => [names[index] ?? '', withoutName(window)]));
}

function withoutName(window: ReturnType<typeof boardFields>['windows'][number]): Fields {
  if (typeof window === 'string') return {};
  const named = ['window', 'season', 'interval'];
  return Object.fromEntries(Object.entries(window).filter(([name]) => !named.includes(name)));
}

/** The names of the parts if they differ, then the fields of each part. */
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

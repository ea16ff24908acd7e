import type { ErrorObject } from 'ajv';
import { isNear, suggestion } from './suggestion.js';

/** What is wrong with a part of a boards file: where it stands, and a sentence with the value and the way out. */
export interface Problem {
  readonly path: Path;
  /** The name within the value at `path` that is wrong, such as a field that there is not. The values are sound then. */
  readonly key?: string;
  readonly reason: string;
}
export type Path = readonly (string | number)[];

/** A problem of a file, for people and programs. `line` begins at 1; `field` reads like `columns[1].update`. */
export interface BoardsFileProblem {
  readonly file: string;
  readonly line: number;
  /** null for a problem of the file as a whole. */
  readonly board: string | null;
  readonly field: string | null;
  readonly reason: string;
}

/** Takes what is wrong with a value of the part of the file that is being read. */
export type Report = (path: Path, reason: string) => void;

/** `boards, football, columns, 1, update`: the field `columns[1].update` of the board `football`. */
export function placeOf([boards, board, ...field]: Path): Pick<
  BoardsFileProblem,
  'board' | 'field'
> {
  if (board === undefined) return { board: null, field: boards === undefined ? null : 'boards' };
  const path = field.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return { board: String(board), field: path === '' ? null : path.replace(/^\./, '') };
}

/** `boards.yaml:7: board "football", columns[1].update: "most" is not allowed; ...` */
export function problemText({ file, line, board, field, reason }: BoardsFileProblem): string {
  const place = [
    ...(board === null ? [] : [`board "${board}"`]),
    ...(field === null ? [] : [field]),
  ];
  return [`${file}:${line}`, ...(place.length === 0 ? [] : [place.join(', ')]), reason].join(': ');
}

/** A value as an error shows it, cut short. */
export function showValue(value: unknown): string {
  if (value === null) return 'an empty value';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The parts of a schema that errors look at. */
interface SchemaPart {
  readonly errorMessage?: string;
  readonly properties?: object;
  readonly anyOf?: readonly Form[];
}
interface Form {
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
}

/** The errors of the schema in words. */
export function schemaProblems(errors: readonly ErrorObject[]): Problem[] {
  return relevant(errors).map((error) => ({
    path: pathOf(error),
    ...keyOf(error),
    reason: reasonOf(error),
  }));
}

/** Of a value that may have one of several forms only the errors of the form that is meant, if one is. */
function relevant(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf');
  return errors.filter((error) => {
    // ajv reports a bad name twice, the second time without the reason.
    if (error.keyword === 'propertyNames') return false;
    const choice = choices.find((of) => isWithin(error, of));
    if (choice === undefined) return true;
    const form = formOf(choice);
    return error === choice
      ? form < 0
      : form >= 0 && error.schemaPath.startsWith(`${choice.schemaPath}/${form}/`);
  });
}

function isWithin(error: ErrorObject, choice: ErrorObject): boolean {
  const { instancePath, schemaPath } = choice;
  const inside =
    error.instancePath === instancePath || error.instancePath.startsWith(`${instancePath}/`);
  return inside && error.schemaPath.startsWith(schemaPath);
}

/** The place of the form that a value is meant to have, also when its mark is misspelt; -1 when nothing tells. */
function formOf({ data, parentSchema }: ErrorObject): number {
  const { anyOf = [] } = parentSchema as SchemaPart;
  if (typeof data === 'string') return anyOf.findIndex((form) => form.enum !== undefined);
  const keys = typeof data === 'object' && data !== null ? Object.keys(data) : [];
  const marks = anyOf.map(({ required: [mark] = [] }) => mark ?? '');
  const exact = marks.findIndex((mark) => keys.includes(mark));
  return exact >= 0
    ? exact
    : marks.findIndex((mark) => mark !== '' && keys.some((key) => isNear(key, mark)));
}

/** The key that an error is about, if it is about one. */
function keyOf({ keyword, params, propertyName }: ErrorObject): Pick<Problem, 'key'> {
  const key =
    keyword === 'additionalProperties'
      ? (params as { additionalProperty: string }).additionalProperty
      : propertyName;
  return key === undefined ? {} : { key };
}

function pathOf({ instancePath }: ErrorObject): Path {
  const [boards, board, ...field] = instancePath.split('/').slice(1).map(unescapePointer);
  const parts = field.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return [boards, board, ...parts].filter((part) => part !== undefined);
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function reasonOf(error: ErrorObject): string {
  const { keyword, data } = error;
  const params = error.params as Record<string, unknown>;
  const schema = error.parentSchema as SchemaPart;
  switch (keyword) {
    case 'additionalProperties':
      return unknownField(
        String(params['additionalProperty']),
        Object.keys(schema.properties ?? {}),
      );
    case 'required':
      return `"${String(params['missingProperty'])}" is missing`;
    case 'enum':
      return notAllowed(data, schema.errorMessage, params['allowedValues'] as unknown[]);
    case 'uniqueItems':
      return `${showValue(data)} holds one entry twice`;
    case 'maxItems':
      return `${(data as unknown[]).length} entries are too many; use ${schema.errorMessage ?? 'fewer'}`;
    default:
      return notAllowed(error.propertyName ?? data, schema.errorMessage);
  }
}

function unknownField(field: string, known: readonly string[]): string {
  return `"${field}" is no field here; allowed: ${known.join(', ')}${suggestion(field, known)}`;
}

function notAllowed(value: unknown, allowed?: string, values: unknown[] = []): string {
  const words = values.filter((word) => typeof word === 'string');
  const near = typeof value === 'string' ? suggestion(value, words) || longForm(value, words) : '';
  return `${showValue(value)} is not allowed; use ${allowed ?? words.join(', ')}${near}`;
}

/** For "descending" where "desc" is known, and the other way round. */
function longForm(value: string, words: readonly string[]): string {
  const text = value.toLowerCase();
  const meant = words.find((word) => text.startsWith(word) || word.toLowerCase().startsWith(text));
  return meant !== undefined && value !== '' ? `; did you mean ${meant}?` : '';
}

import { isDeepStrictEqual } from 'node:util';
import type { ErrorObject } from 'ajv';
import { nearNames, suggestion } from './suggestion.js';

/** What is wrong with a value of a boards file. `reason` names the value and what to do. */
export interface Problem {
  readonly path: Path;
  /** Set if only one key of the value at `path` is wrong, such as an unknown field. */
  readonly key?: string | undefined;
  readonly reason: string;
}
export type Path = readonly (string | number)[];

/** Reports a problem of a value. The path is relative to the part of the file that is read. */
export type Report = (path: Path, reason: string) => void;

/**
 * `boards, football, columns, 1, update`: the field `columns[1].update` of the board `football`.
 */
export function placeOf(path: Path): { board: string | null; field: string | null } {
  const [boards, board, ...parts] = path;
  if (boards === undefined) return { board: null, field: null };
  if (board === undefined) return { board: null, field: 'boards' };

  let text = '';
  for (const part of parts) text += typeof part === 'number' ? `[${part}]` : `.${part}`;
  const field = text === '' ? null : text.replace(/^\./, '');
  return { board: String(board), field };
}

/** A value as an error shows it, cut to 80 characters. */
export function showValue(value: unknown): string {
  if (value === null) return 'an empty value';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

interface SchemaPart {
  readonly errorMessage?: string;
  readonly properties?: object;
  readonly anyOf?: readonly { readonly enum?: unknown; readonly required?: readonly string[] }[];
}

export function schemaProblems(errors: readonly ErrorObject[]): Problem[] {
  return relevant(errors).map((error) => ({
    path: pathOf(error),
    key: keyOf(error),
    reason: reasonOf(error),
  }));
}

/**
 * Where a value can have several forms, keeps only the errors of the form that the user meant; if
 * unknown, one for all forms.
 */
function relevant(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf');
  return errors.filter((error) => {
    // ajv reports a bad name twice, the second time without the reason.
    if (error.keyword === 'propertyNames') return false;

    const choice = choices.find((candidate) => isWithin(error, candidate));
    if (choice === undefined) return true;

    const form = formOf(choice);
    if (error === choice) return form < 0;
    if (form < 0) return false;
    if (!isShared(error)) return error.schemaPath.startsWith(`${choice.schemaPath}/${form}/`);

    const first = errors.find((other) => isSame(other, error));
    return error === first;
  });
}

/**
 * Whether several forms refer to the part of the schema that the value breaks. Each of these forms
 * has then reported the same error.
 */
function isShared({ schemaPath }: ErrorObject): boolean {
  return schemaPath.startsWith('#/$defs/');
}

function isSame(one: ErrorObject, other: ErrorObject): boolean {
  return (
    one.instancePath === other.instancePath &&
    one.schemaPath === other.schemaPath &&
    isDeepStrictEqual(one.params, other.params)
  );
}

function isWithin(error: ErrorObject, { instancePath, schemaPath }: ErrorObject): boolean {
  const inside = `${error.instancePath}/`.startsWith(`${instancePath}/`);
  return inside && (isShared(error) || error.schemaPath.startsWith(schemaPath));
}

/**
 * The index of the form that the user meant; -1 if unknown. A form is recognised by its first
 * required field, perhaps misspelt.
 */
function formOf({ data, parentSchema }: ErrorObject): number {
  const { anyOf = [] } = parentSchema as SchemaPart;
  if (typeof data === 'string') return anyOf.findIndex((form) => form.enum !== undefined);

  const keys = typeof data === 'object' && data !== null ? Object.keys(data) : [];
  const marks = anyOf.map((form) => form.required?.[0]);
  const exact = marks.findIndex((mark) => mark !== undefined && keys.includes(mark));
  if (exact >= 0) return exact;

  const isNear = (mark: string) => keys.some((key) => nearNames(key, [mark], 1).length > 0);
  return marks.findIndex((mark) => mark !== undefined && isNear(mark));
}

function keyOf({ keyword, params, propertyName }: ErrorObject): string | undefined {
  if (keyword !== 'additionalProperties') return propertyName;
  return (params as { additionalProperty: string }).additionalProperty;
}

function pathOf({ instancePath }: ErrorObject): Path {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  // The name of a board stays a text, even if it consists of digits.
  return parts.map((part, depth) => (depth > 1 && /^\d+$/.test(part) ? Number(part) : part));
}

function reasonOf(error: ErrorObject): string {
  const { keyword, data } = error;
  const params = error.params as Record<string, unknown>;
  const { errorMessage, properties = {} } = error.parentSchema as SchemaPart;
  switch (keyword) {
    case 'additionalProperties': {
      const field = String(params['additionalProperty']);
      const known = Object.keys(properties);
      return `unknown field "${field}"; use one of ${known.join(', ')}${suggestion(field, known)}`;
    }
    case 'required':
      return `the field "${String(params['missingProperty'])}" is missing; add it`;
    case 'enum':
      return notAllowed(data, errorMessage, params['allowedValues'] as unknown[]);
    case 'uniqueItems':
      return `${showValue(data)} has a duplicate entry; remove one of the two`;
    case 'maxItems':
      return `${(data as unknown[]).length} entries are too many; use ${errorMessage ?? 'fewer'}`;
    default:
      return notAllowed(error.propertyName ?? data, errorMessage);
  }
}

function notAllowed(value: unknown, allowed?: string, values: unknown[] = []): string {
  const words = values.filter((word) => typeof word === 'string');
  let near = '';
  if (typeof value === 'string') near = suggestion(value, words);
  if (typeof value === 'string' && near === '') near = longForm(value, words);
  return `${showValue(value)} is not allowed; use ${allowed ?? words.join(', ')}${near}`;
}

/** Suggests a word for its beginning or for a longer form, such as "desc" for "descending". */
function longForm(value: string, words: readonly string[]): string {
  const text = value.toLowerCase();
  const meant = words.find((word) => text.startsWith(word) || word.toLowerCase().startsWith(text));
  return meant !== undefined && value !== '' ? `; did you mean ${meant}?` : '';
}

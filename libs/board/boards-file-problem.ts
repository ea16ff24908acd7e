import type { ErrorObject } from 'ajv';
import { suggestion } from './suggestion.js';

/** What is wrong with one value of a boards file: where it stands, and a sentence with the value and the way out. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** Takes what is wrong with a value of the part of the file that is being read. */
export type Report = (path: Problem['path'], reason: string) => void;

/** `boards, football, columns, 1, update` reads: board "football", columns[1].update. */
export function describePath([boards, board, ...field]: Problem['path']): string {
  if (boards === undefined) return 'the file';
  if (board === undefined) return String(boards);
  const path = field.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return `board "${board}"${path === '' ? '' : `, ${path.slice(path.startsWith('.') ? 1 : 0)}`}`;
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
  return relevant(errors).map((error) => ({ path: pathOf(error), reason: reasonOf(error) }));
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

/** The place of the form that a value is meant to have; -1 when nothing tells. */
function formOf({ data, parentSchema }: ErrorObject): number {
  const { anyOf = [] } = parentSchema as SchemaPart;
  return anyOf.findIndex(({ enum: words, required: [mark] = [] }) =>
    words === undefined
      ? typeof data === 'object' && data !== null && mark !== undefined && Object.hasOwn(data, mark)
      : typeof data === 'string',
  );
}

function pathOf({ instancePath }: ErrorObject): Problem['path'] {
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
      return notAllowed(data, schema.errorMessage, params['allowedValues'] as string[]);
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

function notAllowed(value: unknown, allowed: string | undefined, words: string[] = []): string {
  const near = typeof value === 'string' ? suggestion(value, words) : '';
  return `${showValue(value)} is not allowed; use ${allowed ?? words.join(', ')}${near}`;
}

import type { ErrorObject } from 'ajv';

/** One sentence for one error of the schema: file, board, field, the bad value, what is allowed. */
export function describeProblem(error: ErrorObject, fileName: string): string {
  return `${fileName}: ${place(error)}: ${reason(error)}`;
}

/** `/boards/football/columns/1/update` reads: board "football", columns[1].update. */
function place({ instancePath }: ErrorObject): string {
  const [boards, board, ...field] = instancePath.split('/').slice(1).map(unescapePointer);
  if (boards === undefined) return 'the file';
  if (board === undefined) return boards;
  const path = field.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
  return `board "${board}"${path === '' ? '' : `, ${path.slice(path.startsWith('.') ? 1 : 0)}`}`;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function reason(error: ErrorObject): string {
  const { keyword, data, propertyName } = error;
  const params = error.params as Record<string, unknown>;
  const schema = error.parentSchema as { description?: string; properties?: object } | undefined;
  switch (keyword) {
    case 'additionalProperties':
      return `"${String(params['additionalProperty'])}" is no field here; allowed: ${fieldNames(schema?.properties)}`;
    case 'required':
      return `"${String(params['missingProperty'])}" is missing`;
    case 'enum':
      return `${show(data)} is not allowed; use ${(params['allowedValues'] as string[]).join(', ')}`;
    case 'uniqueItems':
      return `${show(data)} holds one entry twice`;
    case 'maxItems':
      return `${(data as unknown[]).length} entries are too many; use ${schema?.description ?? 'fewer'}`;
    default:
      return `${show(propertyName ?? data)} is not allowed; use ${schema?.description ?? 'another value'}`;
  }
}

function fieldNames(properties: object | undefined): string {
  return Object.keys(properties ?? {}).join(', ');
}

function show(value: unknown): string {
  if (value === null) return 'an empty value';
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

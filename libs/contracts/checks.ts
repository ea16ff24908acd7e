export type Schema = Readonly<Record<string, unknown>>;

export interface Check {
  /**
   * What is wrong with a JSON value: the path of the wrong part and what it must be, such as
   * `/top/0/rank must be ...`.
   */
  readonly problem: (value: unknown) => string | undefined;
  /** A JSON Schema (draft 7) for docs/reference/asyncapi.json. */
  readonly schema: Schema;
  readonly isOptional?: true;
}

/** The check of an object, and its fields in the order of their checks. */
export interface ObjectCheck<T> extends Check {
  readonly fields: readonly (keyof T)[];
}

/** The schemas of all named checks, for the docs and for schemas/. */
export const SCHEMAS: Record<string, Schema> = {};

/** Adds the schema of a check to SCHEMAS; other schemas then refer to it. */
function named(name: string, { problem, schema }: Check): Check {
  SCHEMAS[name] = schema;
  return { problem, schema: { $ref: `#/components/schemas/${name}` } };
}

function rule(holds: (value: unknown) => boolean, allowed: string, schema: Schema): Check {
  const problem = ` must be ${allowed}`;
  return { problem: (value) => (holds(value) ? undefined : problem), schema };
}

export function namedRule(
  name: string,
  holds: (value: unknown) => boolean,
  allowed: string,
  schema: Schema,
): Check {
  const description = `${allowed[0]?.toUpperCase()}${allowed.slice(1)}.`;
  return named(name, rule(holds, allowed, { description, ...schema }));
}

/** A JSON object: not an array, not null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined if the text is not a JSON object. */
export function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const TEXT = rule((value) => typeof value === 'string', 'a string', { type: 'string' });
export const OBJECT = rule(isPlainObject, 'an object', { type: 'object' });

export function count(minimum: number): Check {
  const holds = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= minimum;
  const schema = { type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER };
  return rule(holds, `a whole number from ${minimum} to 2^53-1`, schema);
}

/** The field can be absent, but not null. */
export function absentOr({ problem, schema }: Check): Check {
  return {
    problem: (value) => (value === undefined ? undefined : problem(value)),
    schema,
    isOptional: true,
  };
}

/** The field can be null, but not absent. */
export function nullOr({ problem, schema }: Check): Check {
  return {
    problem: (value) => (value === null ? undefined : problem(value)),
    schema: { anyOf: [{ type: 'null' }, schema] },
  };
}

/** An object with a check for each field of T. Ignores unknown fields. Adds to SCHEMAS. */
export function objectOf<T extends object>(
  name: string,
  checks: Readonly<Record<keyof T, Check>>,
): ObjectCheck<T> {
  const fields = Object.entries<Check>(checks);
  const check = named(name, {
    problem: (value) => {
      if (!isPlainObject(value)) return OBJECT.problem(value);
      for (const [field, { problem }] of fields) {
        const found = problem(value[field]);
        if (found !== undefined) return `/${field}${found}`;
      }
      return undefined;
    },
    schema: {
      type: 'object',
      required: fields.filter(([, check]) => !check.isOptional).map(([field]) => field),
      properties: Object.fromEntries(fields.map(([field, { schema }]) => [field, schema])),
    },
  });
  return { ...check, fields: Object.keys(checks) as (keyof T)[] };
}

export function listOf({ problem, schema }: Check, minItems = 0): Check {
  return {
    problem: (value) => {
      if (!Array.isArray(value) || value.length < minItems)
        return ` must be a list of at least ${minItems}`;
      for (const [index, entry] of value.entries()) {
        const found = problem(entry);
        if (found !== undefined) return `/${index}${found}`;
      }
      return undefined;
    },
    schema: { type: 'array', items: schema, ...(minItems > 0 && { minItems }) },
  };
}

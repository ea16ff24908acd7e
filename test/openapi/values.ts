import type { SchemaObject } from 'ajv';
import fc from 'fast-check';

/** Texts that programs take for something else, or fail on. */
// prettier-ignore
const HOSTILE = [
  '', ' ', '0', '-0', '-1', '1.5', '1e400', 'NaN', 'null', 'true', '[]', '{}', '__proto__', 'constructor', 'toString', 'length',
  '\0', '\r\n', '\u001B[31m', '\u202E', '\uFEFF', '\u{10FFFF}', '.', '..', '../..', '/', 'a/b', '%', '%zz', '%2F', '*', '?', '#',
  ';', '&', '=', '[', '\\', '"', "'", '<script>', 'e\u0301', '😀', 'x'.repeat(129), '中'.repeat(129), 'x'.repeat(385),
  '9'.repeat(400), '9007199254740992', '99999999999999999999', '2026-11-20T09:00:00Z', '2026-02-30T00:00:00Z',
] as const;

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<string>(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

/** Values that fit the boards of the test, by the name of a parameter or field. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

function numberOf({ minimum, maximum, exclusiveMinimum, type }: SchemaObject) {
  const min = Number(minimum ?? exclusiveMinimum ?? -1_000);
  const max = Number(maximum ?? 1_000);
  const usual = fc.integer({ min: min + 1, max: Math.min(max, min + 30) });
  const bound = fc.constantFrom(min, max, min - 1, max + 1);
  const share = type === 'number' ? [fc.constantFrom(0.0001, 0.00001, 50.5, 1e-300)] : [];
  return fc.oneof({ weight: 8, arbitrary: usual }, { weight: 2, arbitrary: bound }, ...share);
}

function listOf(schema: SchemaObject, name: string, known: Known): fc.Arbitrary<unknown> {
  const item = valueOf(schema['items'] as SchemaObject, name, known);
  const usual = fc.array(item, { maxLength: 5 });
  const most = Number(schema['maxItems']);
  const tooMany = item.map((one) => Array.from({ length: most + 1 }, () => one));
  return fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: tooMany });
}

function objectOf(schema: SchemaObject, known: Known): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, SchemaObject>;
    required?: string[];
  };
  const fields = Object.entries(properties).map(([name, property]) => {
    const value = valueOf(property, name, known);
    const freq = required.includes(name) ? 20 : 1;
    return fc.option(value, { nil: undefined, freq }).map((one) => [name, one] as const);
  });
  const extra = fc.tuple(hostileText, fc.jsonValue({ maxDepth: 1 }));
  const extras = fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.array(extra));
  return fc
    .tuple(fc.tuple(...fields), extras)
    .map(([own, more]) => Object.fromEntries([...own, ...more]));
}

function rightValueOf(schema: SchemaObject, name: string, known: Known): fc.Arbitrary<unknown> {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] };
  if (Object.hasOwn(known, name) && type !== 'array')
    return fc.constantFrom(...(known[name] ?? []));
  if (values !== undefined) return fc.constantFrom(...values);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer' || type === 'number') return numberOf(schema);
  if (type === 'array') return listOf(schema, name, known);
  if (type === 'object') return objectOf(schema, known);
  return hostileText;
}

/** A value that mostly fits its schema, and nearly does so or does not at all otherwise. */
export function valueOf(schema: SchemaObject, name: string, known: Known): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: rightValueOf(schema, name, known) },
    { weight: 1, arbitrary: hostileText },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
}

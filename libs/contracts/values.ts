import { DECIMAL, isDecimal, isEventTime, MAX_DECIMAL_LENGTH } from '#board';
import { isPlainObject, namedRule } from './checks.js';

const MAX_ID_BYTES = 128;
const MAX_ATTRIBUTE_BYTES = 256;
/** How many values an event can have for one attribute. */
export const MAX_ATTRIBUTE_VALUES = 64;
/** How many inputs an event can name. */
const MAX_DELTAS = 64;
/** How many significant digits a JSON number can have: a double holds all decimals of up to 15. */
export const MAX_NUMBER_DIGITS = 15;

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * An id of a board, player or event: 1 to 128 bytes of UTF-8 without control characters or lone
 * surrogates. Never normalised.
 */
export function isId(value: unknown): value is string {
  return isText(value, MAX_ID_BYTES);
}

/** One value of an attribute, or several (possibly none). */
export type AttributeValue = string | readonly string[];

/** Attributes by name. A name has the form of an id. */
export function isAttributes(value: unknown): value is Record<string, AttributeValue> {
  if (!isPlainObject(value)) return false;
  for (const name in value) if (!isId(name) || !isAttributeValue(value[name])) return false;
  return true;
}

export function isAttributeValue(value: unknown): value is AttributeValue {
  if (!Array.isArray(value)) return isAttributeText(value);
  return value.length <= MAX_ATTRIBUTE_VALUES && value.every(isAttributeText);
}

/** Like an id, but up to 256 bytes. */
export function isAttributeText(value: unknown): value is string {
  return isText(value, MAX_ATTRIBUTE_BYTES);
}

function isText(value: unknown, maxBytes: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxBytes) return false;
  if (PRINTABLE_ASCII.test(value)) return true;
  return (
    !CONTROL.test(value) && value.isWellFormed() && Buffer.byteLength(value, 'utf8') <= maxBytes
  );
}

/** A `delta`, or a value in `deltas`: a decimal string, or a number of up to 15 digits. */
export function isDelta(value: unknown): value is string | number {
  if (typeof value === 'string') return isDecimal(value);
  return typeof value === 'number' && Number.isFinite(value) && hasSafeDigits(String(value));
}

export function isDeltas(value: unknown): value is Record<string, string | number> {
  if (!isPlainObject(value)) return false;
  let count = 0;
  for (const name in value) {
    if (!isId(name) || !isDelta(value[name])) return false;
    count += 1;
  }
  return count > 0 && count <= MAX_DELTAS;
}

export function isColumns(value: unknown): value is Record<string, string> {
  return (
    isPlainObject(value) &&
    Object.values(value).every((text) => typeof text === 'string' && isDecimal(text))
  );
}

const PARTITION = /^(0|[1-9]\d{0,9})$/;

function isStarts(value: unknown): value is Record<string, number> {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([partition, offset]) =>
        PARTITION.test(partition) && Number.isSafeInteger(offset) && Number(offset) >= 0,
    )
  );
}

/** The entries of an object that STARTS accepts. */
export function offsetsByPartition(
  offsets: Readonly<Record<string, number>>,
): ReadonlyMap<number, number> {
  const entries = Object.entries(offsets);
  return new Map(entries.map(([partition, offset]) => [Number(partition), offset]));
}

/** Whether the text of a number has up to 15 significant digits, with any exponent. */
export function hasSafeDigits(text: string): boolean {
  if (text.length <= MAX_NUMBER_DIGITS) return true;
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  return digits.length <= MAX_NUMBER_DIGITS;
}

// JSON Schema can't count bytes or significant digits, so the schemas allow some values that are
// too long.
const text = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
});
const id = text(MAX_ID_BYTES);
const attribute = text(MAX_ATTRIBUTE_BYTES);
const attributes = { type: 'array', items: attribute, maxItems: MAX_ATTRIBUTE_VALUES };
const decimal = { type: 'string', maxLength: MAX_DECIMAL_LENGTH, pattern: DECIMAL.source };
const number = { anyOf: [decimal, { type: 'number' }] };
const byName = (values: object, names: object) => ({
  type: 'object',
  propertyNames: names,
  additionalProperties: values,
});

const NUMBER =
  'a decimal string such as "12" or "-0.5" (no exponent, no spaces), or a JSON number of at ' +
  `most ${MAX_NUMBER_DIGITS} significant digits; send larger numbers as a string`;

export const ID = namedRule(
  'Id',
  isId,
  `a string of 1 to ${MAX_ID_BYTES} bytes of UTF-8 without control characters or lone surrogates`,
  id,
);
export const DELTA = namedRule('Delta', isDelta, NUMBER, number);
export const DELTAS = namedRule(
  'Deltas',
  isDeltas,
  `an object with values for 1 to ${MAX_DELTAS} inputs, each ${NUMBER}`,
  { ...byName(number, id), minProperties: 1, maxProperties: MAX_DELTAS },
);
export const TIME = namedRule(
  'Time',
  isEventTime,
  'an RFC 3339 time with a zone, years 0001 to 9999, such as "2026-11-20T09:00:00.123Z"',
  { type: 'string', format: 'date-time' },
);
export const ATTRIBUTES = namedRule(
  'Attributes',
  isAttributes,
  `an object of strings, or of lists of up to ${MAX_ATTRIBUTE_VALUES} strings; each name has ` +
    `1 to ${MAX_ID_BYTES} bytes, each string 1 to ${MAX_ATTRIBUTE_BYTES}, and neither has ` +
    'control characters or lone surrogates',
  byName({ anyOf: [attribute, attributes] }, id),
);
export const REASON = namedRule(
  'Reason',
  isAttributeText,
  `a string of 1 to ${MAX_ATTRIBUTE_BYTES} bytes of UTF-8 without control characters or lone ` +
    'surrogates',
  attribute,
);
export const COLUMNS = namedRule('Columns', isColumns, 'an object of decimal strings by column', {
  type: 'object',
  additionalProperties: decimal,
});
export const STARTS = namedRule(
  'Starts',
  isStarts,
  'an object of offsets by partition, such as {"0":12}',
  byName({ type: 'integer', minimum: 0 }, { pattern: PARTITION.source }),
);

const MAX_SHOWN_CHARACTERS = 80;
const MAX_SHOWN_NAMES = 5;

// JSON.stringify escapes C0 and lone surrogates, but not DEL and C1.
const NOT_ESCAPED_BY_JSON = /[\u007f-\u009f]/g;

/**
 * A text in quotes, on one line, cut to 80 characters. Control characters and lone surrogates are
 * escaped.
 */
export function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS)).replace(
    NOT_ESCAPED_BY_JSON,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return text.length > MAX_SHOWN_CHARACTERS ? `${shown}...` : shown;
}

/** A JSON value as a dead letter shows it: cuts texts, and summarizes arrays and objects. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isPlainObject(value)) return String(value);
  const names = Object.keys(value);
  if (names.length === 0) return 'an empty object';
  const more = names.length > MAX_SHOWN_NAMES ? ', ...' : '';
  return `an object with ${names.slice(0, MAX_SHOWN_NAMES).map(quote).join(', ')}${more}`;
}

import { isDecimal } from '#board';

export const MAX_ID_BYTES = 128;
export const MAX_ATTRIBUTE_BYTES = 256;
/** How many values an event can have for one attribute. */
export const MAX_ATTRIBUTE_VALUES = 64;
/** How many inputs an event can name. */
export const MAX_DELTAS = 64;
/** How many significant digits a JSON number can have: a double holds all decimals of up to 15. */
export const MAX_NUMBER_DIGITS = 15;

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** An id of a board, player or event: 1 to 128 bytes of UTF-8 without control characters or lone surrogates. Never normalised. */
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

/** A JSON object: not an array, not null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, maxBytes: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxBytes) return false;
  if (PRINTABLE_ASCII.test(value)) return true;
  return (
    !CONTROL.test(value) && value.isWellFormed() && Buffer.byteLength(value, 'utf8') <= maxBytes
  );
}

/** `delta` or a value in `deltas`: a decimal string, or a JSON number of up to 15 significant digits. */
export function isDelta(value: unknown): value is string | number {
  if (typeof value === 'string') return isDecimal(value);
  return typeof value === 'number' && Number.isFinite(value) && hasSafeDigits(String(value));
}

/** 1 to 64 values by input. */
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

export const PARTITION = /^(0|[1-9]\d{0,9})$/;

export function isStarts(value: unknown): value is Record<string, number> {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([partition, offset]) =>
        PARTITION.test(partition) && Number.isSafeInteger(offset) && Number(offset) >= 0,
    )
  );
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

const MAX_SHOWN_CHARACTERS = 80;
const MAX_SHOWN_NAMES = 5;

// JSON.stringify escapes C0 and lone surrogates, but not DEL and C1.
const NOT_ESCAPED_BY_JSON = /[\u007f-\u009f]/g;

/** A text in quotes, on one line, cut to 80 characters. Control characters and lone surrogates are escaped. */
export function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS)).replace(
    NOT_ESCAPED_BY_JSON,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return text.length > MAX_SHOWN_CHARACTERS ? `${shown}...` : shown;
}

/** A JSON value as a dead letter shows it: texts cut, arrays and objects in short, anything else in full. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isPlainObject(value)) return String(value);
  const names = Object.keys(value);
  if (names.length === 0) return 'an empty object';
  const more = names.length > MAX_SHOWN_NAMES ? ', ...' : '';
  return `an object with ${names.slice(0, MAX_SHOWN_NAMES).map(quote).join(', ')}${more}`;
}

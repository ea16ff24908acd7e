/** Longest id, in bytes of UTF-8. */
export const MOST_ID_BYTES = 128;
/** Longest value of an attribute, in bytes of UTF-8. */
export const MOST_ATTRIBUTE_BYTES = 256;
/** Most values that an event may give one attribute. */
export const MOST_ATTRIBUTE_VALUES = 64;

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** An id of a board, player or event: 1 to 128 bytes of UTF-8, no control characters or lone surrogates. Never normalised. */
export function isId(value: unknown): value is string {
  return isText(value, MOST_ID_BYTES);
}

/** What an event says of an attribute: one text, or several (none, too). */
export type AttributeValue = string | readonly string[];

/** Attributes by name; names are ids. */
export function isAttributes(value: unknown): value is Record<string, AttributeValue> {
  if (!isPlainObject(value)) return false;
  for (const name in value) if (!isId(name) || !isAttributeValue(value[name])) return false;
  return true;
}

export function isAttributeValue(value: unknown): value is AttributeValue {
  if (!Array.isArray(value)) return isAttributeText(value);
  return value.length <= MOST_ATTRIBUTE_VALUES && value.every(isAttributeText);
}

/** A text in an attribute: by the rules of ids, but up to 256 bytes. */
export function isAttributeText(value: unknown): value is string {
  return isText(value, MOST_ATTRIBUTE_BYTES);
}

/** A JSON object: no array, not null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, mostBytes: number): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > mostBytes) return false;
  if (PRINTABLE_ASCII.test(value)) return true;
  return (
    !CONTROL.test(value) && value.isWellFormed() && Buffer.byteLength(value, 'utf8') <= mostBytes
  );
}

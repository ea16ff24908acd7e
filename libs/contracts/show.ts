const MOST_SHOWN = 80;
const MOST_NAMES_SHOWN = 5;

// JSON.stringify escapes C0 and lone surrogates, but not DEL and C1.
const NOT_ESCAPED_BY_JSON = /[\u007f-\u009f]/g;

/** A text in quotes on one line, cut to 80 characters; control characters and lone surrogates are escaped. */
export function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, MOST_SHOWN)).replace(
    NOT_ESCAPED_BY_JSON,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return text.length > MOST_SHOWN ? `${shown}...` : shown;
}

/** A JSON value for a reader of a dead letter: scalars as they are, of the others what they hold. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value !== 'object' || value === null) return String(value);
  const names = Object.keys(value);
  if (names.length === 0) return 'an empty object';
  const more = names.length > MOST_NAMES_SHOWN ? ', ...' : '';
  return `an object with ${names.slice(0, MOST_NAMES_SHOWN).map(quote).join(', ')}${more}`;
}

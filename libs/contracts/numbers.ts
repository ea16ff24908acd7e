import { isDecimal } from '#board';
import { isId, isPlainObject } from './ids.js';

/** Digits that every double keeps. */
export const MOST_NUMBER_DIGITS = 15;

/** Most columns that an event may name. */
export const MOST_DELTAS = 64;

/** A value of a column: a decimal string, or a JSON number of at most 15 significant digits. */
export function isDelta(value: unknown): value is string | number {
  if (typeof value === 'string') return isDecimal(value);
  return typeof value === 'number' && Number.isFinite(value) && hasSafeDigits(String(value));
}

/** Values by column: at least one. */
export function isDeltas(value: unknown): value is Record<string, string | number> {
  if (!isPlainObject(value)) return false;
  let count = 0;
  for (const name in value) {
    if (!isId(name) || !isDelta(value[name])) return false;
    count += 1;
  }
  return count > 0 && count <= MOST_DELTAS;
}

/** Decimal strings by column: what a board says of a player. */
export function isColumns(value: unknown): value is Record<string, string> {
  return (
    isPlainObject(value) &&
    Object.values(value).every((text) => typeof text === 'string' && isDecimal(text))
  );
}

const PARTITION = /^(0|[1-9]\d{0,9})$/;

/** Offsets by partition: where in the log a board begins. */
export function isStarts(value: unknown): value is Record<string, number> {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([partition, offset]) =>
        PARTITION.test(partition) && Number.isSafeInteger(offset) && Number(offset) >= 0,
    )
  );
}

/** Whether a number's text has at most 15 significant digits, whatever its exponent. */
export function hasSafeDigits(text: string): boolean {
  if (text.length <= MOST_NUMBER_DIGITS) return true;
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  return digits.length <= MOST_NUMBER_DIGITS;
}

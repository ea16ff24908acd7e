/** A decimal text as an integer of minor units, or why it is none. */
export type ParsedDecimal =
  | { readonly ok: true; readonly minor: number }
  | { readonly ok: false; readonly reason: 'NOT_A_DECIMAL' | 'TOO_MANY_DECIMALS' | 'OUT_OF_RANGE' };

const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Longest text that is looked at: far more than any number in range can need. */
const LONGEST_TEXT = 64;

/** Digits that always fit an exact integer. */
const SAFE_DIGITS = 15;

/** Whether a text is an exact decimal: digits, at most one point, no exponent, no sign but a leading minus. */
export function isDecimal(text: string): boolean {
  return text.length <= LONGEST_TEXT && DECIMAL.test(text);
}

/**
 * The exact number of minor units, within +-(2^53-1). Nothing is rounded: too many decimals are an error, even zeros.
 * "-0" is 0.
 */
export function parseDecimal(text: string, decimals: number): ParsedDecimal {
  if (!isDecimal(text)) return { ok: false, reason: 'NOT_A_DECIMAL' };
  const point = text.indexOf('.');
  const given = point < 0 ? 0 : text.length - point - 1;
  if (given > decimals) return { ok: false, reason: 'TOO_MANY_DECIMALS' };
  const digits =
    (point < 0 ? text : text.slice(0, point) + text.slice(point + 1)) +
    '0'.repeat(decimals - given);
  if (digits.length > SAFE_DIGITS && !Number.isSafeInteger(Number(BigInt(digits))))
    return { ok: false, reason: 'OUT_OF_RANGE' };
  return { ok: true, minor: Number(digits) + 0 };
}

/** The decimal text of minor units: all decimals of the column, no exponent, no "-0". */
export function formatDecimal(minor: number, decimals: number): string {
  if (decimals === 0) return String(minor + 0);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${minor < 0 ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

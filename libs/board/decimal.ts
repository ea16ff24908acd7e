/** A decimal text as an integer of minor units, or why it can't be one. */
export type ParsedDecimal =
  | { readonly ok: true; readonly minor: number }
  | { readonly ok: false; readonly reason: 'NOT_A_DECIMAL' | 'TOO_MANY_DECIMALS' | 'OUT_OF_RANGE' };

export const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;
export const MAX_DECIMAL_LENGTH = 64;

/** An integer of up to this many digits is always exact in a double. */
const SAFE_DIGITS = 15;

/**
 * Whether a text is an exact decimal of up to 64 characters, such as -0.50: no exponent, plus sign
 * or leading zeros.
 */
export function isDecimal(text: string): boolean {
  return text.length <= MAX_DECIMAL_LENGTH && DECIMAL.test(text);
}

/**
 * The exact number of minor units, within +-(2^53-1). Never rounds: too many decimals are an error,
 * even zeros.
 */
export function parseDecimal(text: string, decimals: number): ParsedDecimal {
  if (!isDecimal(text)) return { ok: false, reason: 'NOT_A_DECIMAL' };

  const point = text.indexOf('.');
  const given = point < 0 ? 0 : text.length - point - 1;
  if (given > decimals) return { ok: false, reason: 'TOO_MANY_DECIMALS' };

  const withoutPoint = point < 0 ? text : text.slice(0, point) + text.slice(point + 1);
  const digits = withoutPoint + '0'.repeat(decimals - given);
  if (digits.length > SAFE_DIGITS && !Number.isSafeInteger(Number(BigInt(digits))))
    return { ok: false, reason: 'OUT_OF_RANGE' };

  // Adding 0 turns -0 into 0.
  return { ok: true, minor: Number(digits) + 0 };
}

/** The decimal text of minor units: all decimals of the column, no exponent, no "-0". */
export function formatDecimal(minor: number | bigint, decimals: number): string {
  if (decimals === 0) return String(minor);

  const sign = minor < 0 ? '-' : '';
  const magnitude = minor < 0 ? -minor : minor;
  const digits = String(magnitude).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

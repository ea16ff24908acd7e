import { formatDecimal, MAX_DECIMAL_LENGTH } from '#board';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * The text of a number, as programs print floats (maybe with an exponent), rounded to so many
 * decimals, half away from zero. Texts that have no more decimals, or are no such number, stay as
 * they are.
 */
export function roundDecimal(text: string, decimals: number): string {
  const found = text.length > MAX_DECIMAL_LENGTH ? null : NUMBER.exec(text);
  if (found === null) return text;
  const [, sign = '', whole = '', fraction = '', exponent] = found;
  if (exponent === undefined && fraction.length <= decimals) return text;
  const digits = BigInt(whole + fraction);
  const shift = Number(exponent ?? 0) - fraction.length + decimals;
  const unit = 10n ** BigInt(Math.abs(shift));
  const minor = shift >= 0 ? digits * unit : (digits + unit / 2n) / unit;
  return formatDecimal(sign === '-' ? -minor : minor, decimals);
}

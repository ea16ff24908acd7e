import { formatDecimal, MAX_DECIMAL_LENGTH } from '#board';
import { isPlainObject, parseObject } from '#contracts';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Rounds the text of a number to so many decimals, half away from zero. The number may have an
 * exponent, as programs print floats. Returns the text itself if it has no more decimals, or is not
 * a number.
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

/** A row's JSON with its numbers rounded to the decimals of their inputs. */
export function roundEvent(json: string, inputs: ReadonlyMap<string, number>): string {
  const event = parseObject(json);
  if (event === undefined) return json; // the event decoder says why
  const { delta, deltas } = event;
  const rounded = { ...event, delta: roundValue(delta, Math.min(...inputs.values())) };
  if (!isPlainObject(deltas)) return JSON.stringify(rounded);
  const entries = Object.entries(deltas).map(([name, value]) => {
    return [name, roundValue(value, inputs.get(name))];
  });
  return JSON.stringify({ ...rounded, deltas: Object.fromEntries(entries) as unknown });
}

/**
 * Returns a value that needs no rounding as it is. A JSON number must not become a text: the event
 * decoder refuses numbers with too many digits to be exact.
 */
function roundValue(value: unknown, decimals: number | undefined): unknown {
  if (decimals === undefined || (typeof value !== 'number' && typeof value !== 'string'))
    return value;
  const rounded = roundDecimal(String(value), decimals);
  return rounded === String(value) ? value : rounded;
}

import { formatDecimal, MAX_DECIMAL_LENGTH } from '#board';
import { isPlainObject, parseObject } from '#contracts';

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
 * A JSON number that needs no rounding stays one: the event decoder refuses it if it has too many
 * digits to be exact.
 */
function roundValue(value: unknown, decimals: number | undefined): unknown {
  if (decimals === undefined || (typeof value !== 'number' && typeof value !== 'string'))
    return value;
  const rounded = roundDecimal(String(value), decimals);
  return rounded === String(value) ? value : rounded;
}

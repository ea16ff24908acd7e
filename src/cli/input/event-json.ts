import { isPlainObject, parseObject } from '#contracts';
import { roundDecimal } from './rounding.js';

/** The player of a row's JSON; undefined if the row is of another board, or names none. */
export function playerOf(json: string, board: string): string | undefined {
  const { playerId, board: own = board } = parseObject(json) ?? {};
  return typeof playerId === 'string' && (own ?? board) === board ? playerId : undefined;
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

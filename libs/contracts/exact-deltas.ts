import { isDecimal, type EventNumbers } from '#board';
import { LosslessNumber, parse as parseLossless } from 'lossless-json';
import type { ScoreEvent } from './score-event.js';
import { hasSafeDigits, MAX_NUMBER_DIGITS } from './values.js';

/**
 * Matches if a field may have a number that JSON.parse does not keep exactly: with an exponent, too
 * many digits, or below 1e-6. Ignores numbers in arrays, which are never deltas.
 */
const INEXACT_NUMBER = /"\s*:[\s-]*\d(?:[\d.]{15}|[\d.]*[eE]|\.0{6})/;

/** The name under which `delta` is kept, as if it were one of `deltas`. */
const DELTA = '';

/**
 * The exact values of an event. JSON.parse turns 1e3 into 1000 and rounds long numbers, so a text
 * that may have such numbers is parsed again. That parser is recursive, so the event must not be
 * nested deeply.
 * @returns the values, or what is wrong with one
 */
export function exactDeltas(event: ScoreEvent, text: string): EventNumbers | string {
  const given = event.deltas ?? { [DELTA]: event.delta ?? '' };
  const texts = (event.deltas ? Object.create(null) : {}) as Record<string, string>; // {} is faster
  let hasNumbers = false;
  for (const name in given) {
    const value = given[name] ?? '';
    hasNumbers ||= typeof value === 'number';
    texts[name] = String(value);
  }
  if (hasNumbers && INEXACT_NUMBER.test(text)) {
    const problem = restoreNumbers(event, texts, text);
    if (problem !== undefined) return problem;
  }
  return event.deltas === undefined ? { delta: texts[DELTA] ?? '' } : { deltas: texts };
}

/**
 * Replaces numbers that String wrote with an exponent by their JSON text. Returns what is wrong
 * with a number, if anything.
 */
function restoreNumbers(
  event: ScoreEvent,
  texts: Record<string, string>,
  text: string,
): string | undefined {
  const source = readNumbersAsText(text);
  const written = event.deltas === undefined ? { [DELTA]: source.delta } : source.deltas;
  for (const [name, number] of Object.entries(written ?? {})) {
    if (!(number instanceof LosslessNumber)) continue;
    if (!isDecimal(number.value) || !hasSafeDigits(number.value)) {
      const field = name === DELTA ? 'delta' : `deltas.${name}`;
      return (
        `${field} is ${number.value.slice(0, 80)}, which has an exponent or more than ` +
        `${MAX_NUMBER_DIGITS} significant digits; send it as a decimal string without an ` +
        'exponent'
      );
    }
    // String writes numbers from 1e21 on, and numbers below 1e-6, with an exponent.
    if (!isDecimal(texts[name] ?? '')) texts[name] = withoutTrailingZeros(number.value);
  }
  return undefined;
}

/**
 * 1.50 and 1.5 are the same JSON number, so trailing zeros don't count as decimals, unlike in a
 * string.
 */
function withoutTrailingZeros(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

/**
 * JSON.parse has accepted the text, so this can't fail. As in JSON.parse, the last value of a
 * repeated name counts.
 */
function readNumbersAsText(text: string): { delta?: unknown; deltas?: Record<string, unknown> } {
  return parseLossless(text, null, {
    onDuplicateKey: ({ newValue }) => newValue,
  }) as { delta?: unknown };
}

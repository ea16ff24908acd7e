import { isDecimal } from '#board';
import { parse as parseLossless } from 'lossless-json';
import { hasSafeDigits, MOST_NUMBER_DIGITS } from './numbers.js';
import type { ScoreEvent } from './score-event.js';

/** The values of an event as decimal texts: one for a board's only column, or one for each column. */
export interface ExactDeltas {
  readonly delta?: string;
  readonly deltas?: Readonly<Record<string, string>>;
}

type Result =
  | { readonly ok: true; readonly deltas: ExactDeltas }
  | { readonly ok: false; readonly detail: string };

/**
 * A number somewhere in a JSON text that may not come back as it was written: one with an exponent, a long one that
 * JSON.parse may have rounded, a tiny one that String writes with an exponent.
 */
const DOUBTFUL_NUMBER = /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE]|0\.0{6})/;

/**
 * The values of an event exactly as they were written. JSON.parse turns 1e3 into 1000 and rounds long numbers, so
 * where the text holds such a number the numbers are read again as text. The event must not nest deeply: this recurs.
 */
export function exactDeltas(event: ScoreEvent, text: string): Result {
  const given = event.deltas ?? { [ONLY]: event.delta ?? '' };
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  let hasNumbers = false;
  for (const name in given) {
    const value = given[name] ?? '';
    hasNumbers ||= typeof value === 'number';
    texts[name] = String(value);
  }
  if (hasNumbers && DOUBTFUL_NUMBER.test(text)) return fromSource(event, texts, text);
  return { ok: true, deltas: shape(event, texts) };
}

const ONLY = '';

function shape({ deltas }: ScoreEvent, texts: Record<string, string>): ExactDeltas {
  return deltas === undefined ? { delta: texts[ONLY] ?? '' } : { deltas: texts };
}

class NumberText {
  constructor(readonly text: string) {}
}

function fromSource(event: ScoreEvent, texts: Record<string, string>, text: string): Result {
  const source = readNumbersAsText(text);
  const written = event.deltas === undefined ? { [ONLY]: source.delta } : source.deltas;
  for (const [name, value] of Object.entries(written ?? {})) {
    if (!(value instanceof NumberText)) continue;
    if (!isDecimal(value.text) || !hasSafeDigits(value.text))
      return { ok: false, detail: refusal(name, value.text) };
    // String writes a number of 1e21 and beyond, or below 1e-6, with an exponent.
    if (!isDecimal(texts[name] ?? '')) texts[name] = withoutTrailingZeros(value.text);
  }
  return { ok: true, deltas: shape(event, texts) };
}

/** 1.50 and 1.5 are one JSON number; the zeros are no decimals, as they would be in a string. */
function withoutTrailingZeros(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

/** Of a name that is there twice the last counts, as in JSON.parse; which has taken the text, so this can't fail. */
function readNumbersAsText(text: string): { delta?: unknown; deltas?: Record<string, unknown> } {
  return parseLossless(text, null, {
    parseNumber: (number) => new NumberText(number),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as { delta?: unknown };
}

function refusal(name: string, number: string): string {
  const field = name === ONLY ? 'delta' : `deltas.${name}`;
  return `${field} is ${number.slice(0, 80)}, which has an exponent or more than ${MOST_NUMBER_DIGITS} significant digits; send it as a decimal string, without exponent`;
}

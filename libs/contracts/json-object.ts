import { isUtf8 } from 'node:buffer';
import { isPlainObject } from './checks.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import { quote, show } from './values.js';

/** Why a record can't be decoded. */
export type Refusal = { readonly ok: false } & Rejection;

export function reject(code: DeadLetterCode, detail: string): Refusal {
  return { ok: false, code, detail };
}

/** The JSON object of a record and its text, or why there is none. */
export type ObjectDecoding =
  { readonly ok: true; readonly object: Record<string, unknown>; readonly text: string } | Refusal;

/** Reads the value of a record of the score topic. Never throws, for any bytes. */
export function decodeObject(value: Buffer | null): ObjectDecoding {
  if (value === null || value.length === 0)
    return reject('EMPTY_VALUE', value === null ? 'the value is null' : 'the value is empty');
  if (!isUtf8(value)) return reject('NOT_UTF8', 'the value is not valid UTF-8');
  return parseText(value.toString('utf8'));
}

/** Reads a text that was UTF-8. */
export function parseText(text: string): ObjectDecoding {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch (error) {
    return reject('NOT_JSON', `the value is not JSON: ${quote(String(error))}`);
  }
  if (!isPlainObject(object))
    return reject('NOT_AN_OBJECT', `the value is ${show(object)}, not an object`);
  if (nestsTooDeeply(object, MAX_LEVELS))
    return reject('NESTED_TOO_DEEPLY', `the value has more than ${MAX_LEVELS} levels of nesting`);
  return { ok: true, object, text };
}

/** Levels of objects and arrays, including the object itself. */
export const MAX_LEVELS = 100;

/** The limit is fixed, so that the verdict never depends on how much stack the process has left. */
export function nestsTooDeeply(value: object, levelsLeft: number): boolean {
  if (levelsLeft === 0) return true;
  const children = value as Record<string, unknown>; // also those of an array
  for (const name in children) {
    const child = children[name];
    if (typeof child !== 'object' || child === null) continue;
    if (nestsTooDeeply(child, levelsLeft - 1)) return true;
  }
  return false;
}

import type { Message } from 'kafkajs';
import { withSentNames } from './hostile-headers.js';

/**
 * Key, value and headers of a record as a text, the same before it is sent and after it was read.
 */
export function recordContent({
  key,
  value,
  headers = {},
}: Pick<Message, 'key' | 'value' | 'headers'>): string {
  const all = Object.entries(headers).map(([name, values]) => [
    withSentNames(name),
    [values ?? null].flat().map(textOf),
  ]);
  return JSON.stringify([textOf(key), textOf(value), all]);
}

/** Each byte becomes a character. */
function textOf(part: Buffer | string | null | undefined): string | null {
  return part === null || part === undefined ? null : Buffer.from(part).toString('latin1');
}

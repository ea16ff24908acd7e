import type { ShadowPurpose } from './generation-types.js';
import type { Starts } from './types.js';
import { parseStarts, startsText } from './boards.js';

/** What a generation was made for, and when; of one that was registered, nothing is known. Times in ms. */
export interface Origin {
  readonly purpose?: ShadowPurpose | undefined;
  readonly begunAt?: number | undefined;
  readonly asOf?: number | undefined;
  readonly ends?: Starts | undefined;
}

export function originText({ ends, ...facts }: Origin): string {
  return JSON.stringify({ ...facts, ends: ends && startsText(ends) });
}

export function parseOrigin(text: string | null | undefined): Origin {
  if (text === null || text === undefined) return {};
  const { ends, ...facts } = JSON.parse(text) as Omit<Origin, 'ends'> & { ends?: string };
  return { ...facts, ends: ends === undefined ? undefined : parseStarts(ends) };
}

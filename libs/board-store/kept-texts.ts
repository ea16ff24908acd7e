import type { RecordIdentity } from './types.js';

/** Whether this is what Redis keeps of an offset: somebody may have written something else there. */
export function isOffset(text: string): boolean {
  return /^(?:-1|\d+)$/.test(text) && Number.isSafeInteger(Number(text));
}

/** An offset as Redis keeps it; -1 for none, and for what is none. */
export function keptOffset(text: string | null | undefined): number {
  return isOffset(text ?? '') ? Number(text) : -1;
}

/** From here on, soon no number would be larger than the one before. */
const KEPT_END = 2 ** 53 - 2 ** 40;

/**
 * An integer that Redis keeps of a board; undefined for none, and for what is none or could not be counted on from
 * (lua/kept.lua judges the same).
 */
export function keptNumber(text: string | null | undefined): number | undefined {
  if (!/^(?=.{1,16}$)-?\d+$/.test(text ?? '')) return undefined;
  const number = Number(text);
  return number < KEPT_END ? number : undefined;
}

/** The last applied record of a partition, as Redis keeps it; '' for none. */
export function recordText(record: RecordIdentity | undefined): string {
  return record === undefined ? '' : `${record.offset} ${record.timestamp} ${record.hash}`;
}

/** The reverse; undefined for none, and for what is none (lua/moved.lua has the same pattern). */
export function keptRecord(text: string | null | undefined): RecordIdentity | undefined {
  const [, offset, timestamp, hash] = /^(\d+) (-?\d+) (\S+)$/.exec(text ?? '') ?? [];
  if (offset === undefined || timestamp === undefined || hash === undefined) return undefined;
  return { offset: Number(offset), timestamp: Number(timestamp), hash };
}

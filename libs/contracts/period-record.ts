import { count, nullOr, objectOf, TEXT } from './checks.js';
import { MalformedRecordError } from './result-contract.js';
import type { RawRecord } from './record.js';
import { ID, offsetsByPartition, STARTS } from './values.js';

/** What ranklog has done for one window of a board that has closed, such as `week:2026-W47`. */
export interface PeriodRecord {
  readonly board: string;
  readonly window: string;
  /** The last announcement that was begun; 0 before the first one. */
  readonly revision: number;
  /** The last view that was announced in this revision; null if the revision is complete. */
  readonly view: string | null;
  /**
   * The ends of the score topic after the window had closed: no later record changes the window.
   */
  readonly ends: ReadonlyMap<number, number>;
  /** When the ends were read, in ms. If the window closes later than that, new ends are needed. */
  readonly notedAt: number;
}

interface StoredPeriodRecord extends Omit<PeriodRecord, 'ends'> {
  readonly ends: Readonly<Record<string, number>>;
}

/** The keys of these records begin with this. No board name has a control character. */
const KEY = '\u0000period ';

const check = objectOf<StoredPeriodRecord>('StoredPeriodRecord', {
  board: ID,
  window: TEXT,
  revision: count(0),
  view: nullOr(TEXT),
  ends: STARTS,
  notedAt: count(0),
});

type Period = Pick<PeriodRecord, 'board' | 'window'>;

/** Names a window of a board in keys and messages. A window has no spaces. */
export function periodName({ board, window }: Period): string {
  return `${board} ${window}`;
}

export function encodePeriodRecord({ board, window, revision, view, ends, notedAt }: PeriodRecord) {
  const stored = { board, window, revision, view, ends: Object.fromEntries(ends), notedAt };
  return { key: KEY + periodName({ board, window }), value: JSON.stringify(stored) };
}

/** The tombstone of a record. */
export function deletedPeriodRecord(period: Period) {
  return { key: KEY + periodName(period), value: null };
}

/** The periodName in the key of a record of the definitions topic; undefined for another key. */
export function periodOfRecord({ key }: Pick<RawRecord, 'key'>): string | undefined {
  const text = key?.toString() ?? '';
  return text.startsWith(KEY) ? text.slice(KEY.length) : undefined;
}

/** @throws MalformedRecordError for a record that encodePeriodRecord has not made */
export function decodePeriodRecord(record: Pick<RawRecord, 'key' | 'value'>): PeriodRecord {
  const stored = parsed(record.value?.toString() ?? '');
  const problem = check.problem(stored);
  if (problem !== undefined) throw malformed(`value${problem}`);
  const { board, window, revision, view, ends, notedAt } = stored as StoredPeriodRecord;
  if (periodOfRecord(record) !== periodName({ board, window }))
    throw malformed(`the key is not that of ${periodName({ board, window })}`);
  return { board, window, revision, view, ends: offsetsByPartition(ends), notedAt };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('the value is not JSON');
  }
}

function malformed(problems: string): MalformedRecordError {
  return new MalformedRecordError('record of a closed window', problems);
}

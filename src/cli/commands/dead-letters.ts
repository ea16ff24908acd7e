import { isUtf8 } from 'node:buffer';
import { DEAD_LETTER_CODES, formatTime } from '#contracts';
import {
  DeadLetterSelection,
  type FoundLetter,
  type LetterFilter,
} from '../sessions/dead-letter-selection.js';
import { openKafka } from '../sessions/kafka-session.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

export async function listDeadLetters(options: LetterFilter & JsonOption & { limit: number }) {
  await using session = await openKafka();
  const letters = await DeadLetterSelection.open(session, options);
  let count = 0;
  let last: FoundLetter[] = [];
  for await (const found of letters.read()) {
    count += 1;
    last.push(found);
    if (last.length >= 2 * options.limit) last = latest(last, options.limit);
  }
  const deadLetters = latest(last, options.limit).map(factsOf);
  print({ count, deadLetters }, options, () => listText(count, deadLetters));
  return EXIT.ok;
}

export async function showDeadLetter(id: string, options: JsonOption): Promise<number> {
  await using session = await openKafka();
  let shown: FoundLetter | undefined;
  const failedAgain: string[] = [];
  const letters = await DeadLetterSelection.open(session, {});
  for await (const found of letters.read()) {
    if (found.id === id) shown = found;
    else if (found.retryOf?.includes(id) === true) failedAgain.push(found.id);
  }
  if (shown === undefined)
    throw new CommandError(`no dead letter has the id ${id}; use one that list prints`, EXIT.no);
  print({ ...detailsOf(shown), failedAgain }, options, (answer) => {
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const rows = Object.entries(answer).map(([name, value]) => [name, text(value)]);
    return table(['field', 'value'], rows);
  });
  return EXIT.ok;
}

/** The last letters by time: partitions are read concurrently, so only each of them is in order. */
function latest(letters: FoundLetter[], limit: number): FoundLetter[] {
  return letters.sort((a, b) => a.record.timestamp - b.record.timestamp).slice(-limit);
}

function factsOf({ id, code, detail, event, record, retryOf = [] }: FoundLetter) {
  const { board = null, playerId = null } = event ?? {};
  const publishedAt = formatTime(record.timestamp);
  return { id, reason: code, detail, board, playerId, publishedAt, retryOf };
}

function detailsOf(found: FoundLetter) {
  const { code, timestamp = null, leftOut, record } = found;
  const headers = Object.entries(record.headers).map(([name, values]) => {
    return [name, [values].flat().map(textOf)];
  });
  return {
    ...factsOf(found),
    wayOut: (DEAD_LETTER_CODES as Record<string, string>)[code] ?? null,
    timestamp,
    leftOut,
    key: textOf(record.key),
    headers: Object.fromEntries(headers) as unknown,
    value: textOf(record.value),
  };
}

/** Bytes that are not UTF-8 are shown as Base64. */
function textOf(bytes: Buffer | string | null = null) {
  if (bytes === null || typeof bytes === 'string') return bytes;
  return isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
}

function listText(count: number, letters: readonly ReturnType<typeof factsOf>[]): string {
  const rows = letters.map(({ id, reason, board, playerId, publishedAt, retryOf }) => {
    return [id, reason, board ?? '-', playerId ?? '-', publishedAt, retryOf.at(-1) ?? '-'];
  });
  const head = ['id', 'reason', 'board', 'player', 'published', 'retry of'];
  const shown = rows.length < count ? `; the last ${rows.length} are shown` : '';
  return `${table(head, rows)}\n\n${count} dead letters${shown}`;
}

import { isVoided } from '#board';
import type { Boards } from '#board-store';
import { batchBytes, encodeRetry, retriedIds } from '#contracts';
import { logRanges, type LogRange } from '#kafka-batch';
import { maxMessageBytes } from '../../infra/topics.js';
import { readRecord } from '../../ingest/read-record.js';
import {
  DeadLetterSelection,
  type FoundLetter,
  type LetterFilter,
} from '../sessions/dead-letter-selection.js';
import { readWithProgress } from '../sessions/kafka-session.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { ScoreLogWriter } from '../sessions/score-log-writer.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { isPartlyLate } from '../text/board-times.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

type RetryOptions = LetterFilter & JsonOption & { readonly yes?: true; readonly dryRun?: true };

interface Retry {
  readonly message: ReturnType<typeof encodeRetry>;
  /** Whether some windows of the event have closed, and others have not. */
  readonly isPartlyLate: boolean;
}

const INSTEAD = { command: 'retry', instead: '--dry-run to see what it would send' };

export async function retryDeadLetters(
  ids: readonly string[],
  options: RetryOptions,
): Promise<number> {
  await using session = await openReconciliation();
  const letters = await DeadLetterSelection.open(session, { ...options, ids });
  const first = new Map<number, number>();
  let selected = 0;
  for await (const { partition, offset } of letters.read()) {
    selected += 1;
    first.set(partition, Math.min(offset, first.get(partition) ?? Infinity));
  }

  if (selected === 0 && ids.length > 0)
    throw new CommandError(`no dead letter has an id of these: ${ids.join(', ')}`, EXIT.no);
  const { yes = selected === 0, dryRun } = options;
  if (!yes && !dryRun) await confirmRetry(selected);

  const maxBytes = await maxMessageBytes(session.admin, session.topics.scoreEvents);
  const { group } = session.identity;
  const target = { group, purpose: 'dead-letters-retry', maxBytes };
  await using writer = dryRun ? undefined : await ScoreLogWriter.open(session, target);
  const work = { first, maxBytes, writer };
  const { sent, partlyLate, leftOut } = await sendMissing(session, letters, work);

  const answer = { selected, [dryRun ? 'toSend' : 'sent']: sent, partlyLate, ...leftOut };
  print(answer, options, () => table(['dead letters', 'number'], Object.entries(answer)));
  return leftOut.refused === 0 ? EXIT.ok : EXIT.no;
}

/** @throws CommandError if the user declines, CancelledError */
async function confirmRetry(selected: number): Promise<void> {
  using cancellation = interruption();
  await confirmOnTerminal(`retry ${selected} dead letters?`, cancellation.signal, INSTEAD);
}

interface Work {
  /** By partition, the first offset of a selected record. Its retries have later offsets. */
  readonly first: ReadonlyMap<number, number>;
  readonly maxBytes: number;
  /** Opening it has fenced earlier retries, so the log has every retry that was ever sent. */
  readonly writer: ScoreLogWriter | undefined;
}

/**
 * Sends the retries that the log lacks, and that would count. Without a writer, only counts them.
 */
async function sendMissing(
  session: ReconciliationSession,
  letters: DeadLetterSelection,
  { first, maxBytes, writer }: Work,
) {
  const topic = session.topics.scoreEvents;
  const log = await logRanges(session.kafka, topic, 'written');
  const retried = await findRetried(session, log, first);
  const context = { topic, maxBytes, log, boards: await session.stores.store.boards() };
  const leftOut = { retried: 0, accepted: 0, refused: 0 };
  let sent = 0;
  let partlyLate = 0;
  for await (const letter of letters.read()) {
    const retry = retried.has(letter.id) ? 'retried' : retryOf(letter, context);
    if (typeof retry === 'object') {
      retried.add(letter.id);
      sent += 1;
      if (retry.isPartlyLate) partlyLate += 1;
      await writer?.add(letter.partition, retry.message);
    } else if (retry === 'retried' || retry === 'accepted') {
      leftOut[retry] += 1;
    } else {
      leftOut.refused += 1;
      process.stderr.write(`${letter.id}: ${retry}\n`);
    }
  }
  await writer?.flush();
  return { sent, partlyLate, leftOut };
}

/** The ids of records with a retry in the log. */
async function findRetried(
  session: ReconciliationSession,
  log: ReadonlyMap<number, LogRange>,
  first: ReadonlyMap<number, number>,
): Promise<Set<string>> {
  const ranges = [...first].map(([partition, offset]) => {
    const { start = 0, end = 0 } = log.get(partition) ?? {};
    return [partition, { start: Math.max(start, offset), end }] as const;
  });
  const retried = new Set<string>();
  for await (const record of readWithProgress(session, new Map(ranges)))
    retried.add(retriedIds(record).at(-1) ?? '');
  return retried;
}

/**
 * Returns the retry to send, or `accepted` if the board takes the record itself, or a text that
 * says why a retry can't count.
 */
export function retryOf(
  { topic, partition, offset, timestamp, leftOut, record }: FoundLetter,
  to: { topic: string; log: ReadonlyMap<number, LogRange>; boards: Boards; maxBytes: number },
  now = Date.now(),
): Retry | string {
  const { start = 0, end = 0 } = to.log.get(partition) ?? {};
  if (topic !== to.topic || offset < start || offset >= end)
    return 'the score topic no longer has the record, and may have lost its retry';
  if (leftOut.length > 0 || timestamp === undefined)
    return `the dead letter lacks ${leftOut[0]?.part ?? 'the timestamp'} of the record`;

  const message = encodeRetry(record, { topic, partition, offset, timestamp });
  if (batchBytes(message) > to.maxBytes)
    return 'the record is too large for the headers of a retry';

  const sent = { ...message, offset: end, timestamp: now };
  const { event, entry } = readRecord(sent, partition, to.boards);
  const live = event && to.boards.live.get(event.board);
  if (event && live && isVoided(live.definition, event, partition, sent))
    return 'its event is voided ("ranklog scores unvoid" counts it again)';

  if (entry.kind === 'event' || entry.kind === 'player') {
    const resolved = entry.kind === 'event' ? entry.event : undefined;
    const isLate = live && resolved && isPartlyLate(live.definition, resolved, now);
    return { message, isPartlyLate: isLate === true };
  }
  if (entry.kind === 'deadLetter') return `refused again: ${entry.code}: ${entry.detail}`;
  if (entry.late !== undefined) return `refused again: WINDOW_CLOSED: ${entry.late}`;
  // The build applies the record by a definition that is not live yet, and may refuse it.
  if (event !== undefined && live === undefined)
    return `board ${JSON.stringify(event.board)} is being built; try again once it is live`;
  return 'accepted';
}

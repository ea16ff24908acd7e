import { decodePlayerRecord, retriedIds } from '#contracts';
import type { ReadRecord } from '../../support/results.js';
import { isSkipped, isTaken, type Expected } from './expected.js';
import { recordId, summary, type RunFacts } from './facts.js';

/** A record of the score topic that repeats another one: the one with the id `retried`. */
interface Retry {
  readonly id: string;
  readonly record: ReadRecord;
  readonly retried: string;
}

export function retriesIn(topic: string, log: readonly ReadRecord[]): Retry[] {
  return log.flatMap((record) => {
    const retried = retriedIds(record).at(-1);
    return retried === undefined ? [] : [{ id: recordId(topic, record), record, retried }];
  });
}

/**
 * Finds retries that differ from their record, or that no definition of the board takes in its
 * place; records that were retried twice, or without a dead letter; and dead letters that were not
 * retried, although their board takes them now.
 */
export function retryProblems(topic: string, facts: RunFacts, { boards }: Expected): string[] {
  const { definitions, known, log } = facts;
  const records = new Map(log.map((record) => [recordId(topic, record), record]));
  const valid = new Map(boards.flatMap((board) => board.records.map((it) => [it.id, it])));
  const names = new Set(known.map(({ board }) => board));
  const letters = new Set(facts.deadLetters.map(({ id }) => id));
  const retries = retriesIn(topic, log);
  const retried = retries.map((retry) => retry.retried);
  const different = retries.filter((retry) => !isCopy(retry.record, records.get(retry.retried)));
  const useless = retries.filter(({ id, retried: first }) => {
    const found = valid.get(id);
    if (found !== undefined && 'player' in found) return valid.has(first);
    const own = known.filter(({ board }) => board === found?.board);
    return !own.some((one) => found && isTaken(one, found) && !isSkipped(one, found));
  });
  // The last retry of all dead letters came after that.
  const lastWritten = log.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
  const isTakenNow = (id: string) => {
    const [record, found] = [records.get(id), valid.get(id)];
    const player = record && decodePlayerRecord({ ...record, timestamp: lastWritten });
    if (player?.ok === true) return names.has(player.playerRecord.board);
    const live = definitions.find(({ board }) => board === found?.board);
    if (found === undefined || 'player' in found || live === undefined) return false;
    return !isTaken(live, found) && isTaken(live, { ...found, timestamp: lastWritten });
  };
  const missing = [...letters].filter((id) => !retried.includes(id) && isTakenNow(id));
  const twice = retried.filter((id, index) => retried.indexOf(id) !== index);
  const without = retried.filter((id) => !letters.has(id));
  return [
    ...summary('retries that differ from their record', idsOf(different)),
    ...summary('retries that no definition takes', idsOf(useless)),
    ...summary('records that were retried more than once', twice),
    ...summary('records that were retried without a dead letter', without),
    ...summary('dead letters that were not retried', missing),
  ];
}

function idsOf(retries: readonly Retry[]): string[] {
  return retries.map(({ id }) => id);
}

/**
 * Whether a retry comes after its record in the same partition, and differs only in headers that a
 * retry does not repeat.
 */
function isCopy(retry: ReadRecord, record: ReadRecord | undefined): boolean {
  return (
    record?.partition === retry.partition &&
    record.offset < retry.offset &&
    contentOf(record) === contentOf(retry)
  );
}

/**
 * A retry does not repeat headers of ranklog, apart from the time of a player record; nor those
 * whose names are not UTF-8: decoding has replaced these bytes.
 */
const NOT_REPEATED = /^ranklog_|\uFFFD/;

function contentOf({ key, value, headers }: ReadRecord): string {
  const others = Object.entries(headers).filter(([name]) => !NOT_REPEATED.test(name));
  return JSON.stringify([key, value, String(headers['ranklog_time']), others]);
}

import type { Message } from 'kafkajs';
import type { LeaderChangeVerdict, RankChangeVerdict, Verdict } from '#board-store';
import {
  encodeDeadLetter,
  encodeLeaderChange,
  encodeRankChange,
  formatTime,
  leaderMovements,
  type DecodedScoreEvent,
  type TopicNames,
} from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import type { ReadRecord } from './read-record.js';

/** A message for a result topic; its partition is that of its cause. */
export interface Result {
  readonly topic: string;
  readonly message: Message;
}

/** What an input partition's results are made with. */
export interface ResultTarget {
  readonly topics: TopicNames;
  readonly partition: number;
  /** What the dead letter topic takes in one batch. */
  readonly mostDeadLetterBytes: number;
}

/** The message that reports a verdict on a record of the score topic. */
export function encodeResult(
  { topics, partition, mostDeadLetterBytes }: ResultTarget,
  verdict: Verdict,
  { record, event }: ReadRecord,
): Result {
  const source = { topic: topics.scoreEvents, partition, offset: verdict.offset };
  if (verdict.kind === 'deadLetter') {
    const message = encodeDeadLetter(source, record, verdict, mostDeadLetterBytes);
    return { topic: topics.deadLetters, message };
  }
  if (event === undefined)
    throw new Error(
      `a result is kept for ${source.topic}/${partition}/${source.offset}, which is no score event; is this another topic under the same name?`,
    );
  const cause = {
    board: event.board,
    generation: verdict.generation,
    source,
    occurredAt: formatTime(event.occurredAt ?? record.timestamp),
  };
  return verdict.kind === 'rankChange'
    ? { topic: topics.rankChanges, message: rankChange(cause, event, verdict) }
    : { topic: topics.leaderChanges, message: leaderChange(cause, verdict) };
}

/** What every result says of the event that it stems from. */
interface Cause {
  readonly board: string;
  readonly generation: string;
  readonly source: { readonly topic: string; readonly partition: number; readonly offset: number };
  readonly occurredAt: string;
}

function rankChange(
  cause: Cause,
  { playerId, eventId }: DecodedScoreEvent,
  { changes }: RankChangeVerdict,
): Message {
  return encodeRankChange({
    ...cause,
    playerId,
    ...(eventId === undefined ? {} : { eventId }),
    changes,
  });
}

function leaderChange(
  cause: Cause,
  { view, version, since, top, before }: LeaderChangeVerdict,
): Message {
  return encodeLeaderChange({
    ...cause,
    view,
    version,
    since,
    top,
    ...leaderMovements(since === null ? [] : before, top),
  });
}

/** The offset of the score event that a result stems from (its id may name a view after it); undefined when it stems from another partition or topic. */
export function causeOffset(
  { headers }: KafkaRecord,
  topic: string,
  partition: number,
): number | undefined {
  const id = headers['ranklog_id'] ?? headers['ce_id'];
  const prefix = `${topic}/${partition}/`;
  const text = id?.toString() ?? '';
  return text.startsWith(prefix) ? Number.parseInt(text.slice(prefix.length), 10) : undefined;
}

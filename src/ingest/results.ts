import type { Message } from 'kafkajs';
import type { Verdict } from '#board-store';
import { encodeDeadLetter, encodeRankChange, formatTime, type TopicNames } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import type { ReadRecord } from './read-record.js';

/** A message for a result topic; its partition is that of its cause. */
export interface Result {
  readonly topic: string;
  readonly message: Message;
}

/** The message that reports a verdict on a record of partition `partition` of the score topic. */
export function encodeResult(
  topics: TopicNames,
  partition: number,
  verdict: Verdict,
  { record, event }: ReadRecord,
): Result {
  const source = { topic: topics.scoreEvents, partition, offset: verdict.offset };
  if (verdict.kind === 'deadLetter') {
    const message = encodeDeadLetter(source, record, verdict.code, verdict.detail);
    return { topic: topics.deadLetters, message };
  }
  if (event === undefined)
    throw new Error(
      `a rank change is kept for ${source.topic}/${partition}/${source.offset}, which is no score event; is this another topic under the same name?`,
    );
  const message = encodeRankChange({
    board: event.board,
    generation: verdict.generation,
    playerId: event.playerId,
    source,
    ...(event.eventId === undefined ? {} : { eventId: event.eventId }),
    occurredAt: formatTime(event.occurredAt ?? record.timestamp),
    changes: verdict.changes,
  });
  return { topic: topics.rankChanges, message };
}

/** The offset of the score event that a result stems from; undefined when it stems from another partition or topic. */
export function causeOffset(
  { headers }: KafkaRecord,
  topic: string,
  partition: number,
): number | undefined {
  const id = headers['ranklog_id'] ?? headers['ce_id'];
  const prefix = `${topic}/${partition}/`;
  const text = id?.toString() ?? '';
  return text.startsWith(prefix) ? Number(text.slice(prefix.length)) : undefined;
}

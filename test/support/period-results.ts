import type { Kafka } from 'kafkajs';
import type { PeriodResult } from '#client';
import { encodePeriodResult, type TopicNames } from '#contracts';
import { transactionalProducer, transactionsEnded } from './kafka-client.js';

/** The result of a week of all players, who have these points in the order of the ranking. */
export function weekResult(
  points: Readonly<Record<string, number>>,
  fields: Partial<PeriodResult> = {},
): PeriodResult {
  const players = Object.entries(points);
  const results = players.map(([playerId, own], index) => ({
    playerId,
    rank: index + 1,
    competitionRank: 1 + players.filter(([, other]) => other > own).length,
    columns: { points: String(own) },
  }));
  return {
    board: 'weekly',
    generation: '1795165200000000-0a1b2c3d',
    view: 'week:2026-W47',
    window: 'week:2026-W47',
    start: '2026-11-16T00:00:00.000Z',
    end: '2026-11-23T00:00:00.000Z',
    revision: 1,
    size: players.length,
    results,
    ...fields,
  };
}

/** Writes results in one transaction, as ranklog does; resolves when its marker is written. */
export async function announce(
  kafka: Kafka,
  { periodResults: topic, scoreEvents }: TopicNames,
  results: readonly PeriodResult[],
  end: 'commit' | 'abort' = 'commit',
): Promise<void> {
  const transactionalId = `${topic}-test`;
  const producer = transactionalProducer(kafka, transactionalId);
  await producer.connect();
  const transaction = await producer.transaction();
  const messages = results.map((result) => encodePeriodResult(result, scoreEvents));
  await transaction.send({ topic, messages });
  await transaction[end]();
  await producer.disconnect();
  await transactionsEnded(kafka, transactionalId);
}

// @ts-check
import { Partitioners } from 'kafkajs';

const BATCH = 1_000;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/**
 * Fills a score topic with events of random players on the board `arena`, one a millisecond, each of 1 to 1,000 points.
 * @param {import('./sandbox.mjs').Sandbox} sandbox @param {{ events: number, players: number }} size
 */
export async function fillLog({ kafka, topics }, { events, players }) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (let from = 0; from < events; from += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, events - from) }, (_, index) =>
      score(players, new Date(BEGIN + from + index)),
    );
    await producer.send({ topic: topics.scoreEvents, messages });
  }
  await producer.disconnect();
}

/** @param {number} players @param {Date} time @param {string} [eventId] @returns {import('kafkajs').Message} */
export function score(players, time, eventId) {
  const playerId = `player-${Math.floor(Math.random() * players)}`;
  const delta = String(1 + Math.floor(Math.random() * 1_000));
  const event = { board: 'arena', playerId, delta, occurredAt: time.toISOString(), eventId };
  return { key: playerId, value: JSON.stringify(event) };
}

// @ts-check
// Score events of random players on the board `arena`, of 1 to 1,000 points and about 190 bytes. An
// event depends only on its number, so all contenders read the same events.
import { Partitioners } from 'kafkajs';
import { cloudEventHeaders, SCORE_EVENT_TYPE } from '#contracts';

const BATCH = 1_000;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/** @typedef {{ events: number, players: number }} Size */

/**
 * Fills a score topic with events, one a millisecond. With `atOnce`, consumers of committed records
 * see all of them at the moment when the returned function is called.
 * @param {import('./sandbox.mjs').Sandbox} sandbox
 * @param {Size & { from?: number, atOnce?: boolean, withHeaders?: boolean | undefined }} size
 * `from`: first number; `withHeaders`: each event has the headers of a CloudEvent, as ScoreProducer
 * sends it
 * @returns {Promise<() => Promise<void>>}
 */
export async function fillLog({ kafka, topics, name }, size) {
  const { events, players, from = 0, atOnce, withHeaders = false } = size;
  const messageOf = withHeaders ? scoreWithHeaders : score;
  const transactional = { transactionalId: `${name}-fill`, maxInFlightRequests: 1 };
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    ...(atOnce && transactional),
  });
  await producer.connect();
  const transaction = atOnce ? await producer.transaction() : undefined;
  const end = from + events;
  for (let at = from; at < end; at += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, end - at) }, (_, index) =>
      messageOf(at + index, players),
    );
    await (transaction ?? producer).send({ topic: topics.scoreEvents, messages });
  }
  if (transaction === undefined) await producer.disconnect();
  return async () => {
    await transaction?.commit();
    await producer.disconnect();
  };
}

/**
 * @param {number} number of the event @param {number} players
 * @param {Date} [time] @param {string} [eventId] @returns {import('kafkajs').Message & { key:
 * string }}
 */
export function score(number, players, time = new Date(BEGIN + number), eventId = `m-${number}`) {
  const { playerId, delta } = playerAndDelta(number, players);
  const event = {
    ...{ board: 'arena', playerId, delta, occurredAt: time.toISOString(), eventId },
    attributes: { region: 'eu-west', mode: 'ranked', season: '2026-winter' },
  };
  return { key: playerId, value: JSON.stringify(event) };
}

/**
 * The same event as ScoreProducer sends it. @param {number} number of the event @param {number}
 * players
 */
function scoreWithHeaders(number, players) {
  const event = { id: `m-${number}`, type: SCORE_EVENT_TYPE, source: '/bench' };
  return { ...score(number, players), headers: cloudEventHeaders(event) };
}

/**
 * What boards must have after the events: players, and the sum of their scores. @param {Size} size
 */
export function totals({ events, players }) {
  const seen = new Set();
  let sum = 0;
  for (let number = 0; number < events; number++) {
    const { playerId, delta } = playerAndDelta(number, players);
    seen.add(playerId);
    sum += delta;
  }
  return { players: seen.size, sum };
}

/** @param {number} number @param {number} players */
function playerAndDelta(number, players) {
  return {
    playerId: `player-${mixed(2 * number) % players}`,
    delta: 1 + (mixed(2 * number + 1) % 1_000),
  };
}

/** A number of 32 bits that looks random: the finalizer of MurmurHash3. @param {number} number */
function mixed(number) {
  let hash = number ^ 0x9e3779b9;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

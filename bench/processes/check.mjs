// @ts-check
import { BoardReader } from '#board-store';

/**
 * What is wrong with the results and the board; empty if every event has one result, the points of
 * each player follow from one result to the next, and the board has the order of the events.
 * @param {import('../sandbox.mjs').Sandbox} sandbox @param
 * {import('./traffic.mjs').PartitionTraffic} traffic
 * @returns {Promise<string[]>}
 */
export async function problems({ redis, name }, { events, results }) {
  return [...countProblems(events, results), ...chainProblems(results)].concat(
    await boardProblems(new BoardReader({ redis, prefix: name }), events),
  );
}

/**
 * @param {import('./traffic.mjs').Sent[][]} events @param {import('./traffic.mjs').Seen[]} results
 */
function countProblems(events, results) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { eventId } of results) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  return events.flatMap((sent, partition) =>
    sent.flatMap((_, index) => {
      const count = counts.get(`${partition}-${index}`) ?? 0;
      return count === 1 ? [] : [`event ${partition}-${index} has ${count} results`];
    }),
  );
}

/** @param {import('./traffic.mjs').Seen[]} results */
function chainProblems(results) {
  /** @type {Map<string, string>} */
  const points = new Map();
  return results.flatMap(({ eventId, playerId, before, after }) => {
    const expected = points.get(playerId) ?? '0';
    points.set(playerId, after);
    if (before === expected) return [];
    return [`event ${eventId}: ${playerId} has ${before} points before it, not ${expected}`];
  });
}

/** @param {BoardReader} reader @param {import('./traffic.mjs').Sent[][]} events */
async function boardProblems(reader, events) {
  const expected = standings(events);
  const { entries } = await reader.standings('arena', { limit: expected.length + 1 });
  const found = entries.map(({ playerId, columns }) => `${playerId} ${columns['score'] ?? ''}`);
  const length = Math.max(found.length, expected.length);
  return Array.from({ length }, (_, index) => index).flatMap((index) =>
    found[index] === expected[index]
      ? []
      : [`rank ${index + 1} is ${found[index] ?? 'empty'}, not ${expected[index] ?? 'empty'}`],
  );
}

/**
 * The players in their order: more points first, then those who had them earlier. @param
 * {import('./traffic.mjs').Sent[][]} events
 */
function standings(events) {
  /** @type {Map<string, { points: number, time: number }>} */
  const players = new Map();
  for (const { playerId, delta, time } of events.flat()) {
    const { points = 0, time: before = 0 } = players.get(playerId) ?? {};
    players.set(playerId, { points: points + delta, time: Math.max(before, time) });
  }
  return [...players]
    .sort(([a, of], [b, to]) => to.points - of.points || of.time - to.time || (a < b ? -1 : 1))
    .map(([playerId, { points }]) => `${playerId} ${points}`);
}

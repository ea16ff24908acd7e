// @ts-check
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { ScoreProducer } from '#client';
import { withCleanUp } from '../clean-up.mjs';
import { ROOT } from '../services/clone.mjs';

/**
 * @typedef {{ occurredAt: string, attributes: { league: string, season: string } }} FootballEvent
 */
/**
 * @typedef {{ date: string, lines: string[], tables: string[] }} MatchDay `tables`: named
 * `football/<league>/<season>`
 */

/** @returns {MatchDay[]} the football events by day, in the order of time */
export function matchDays() {
  const file = readFileSync(path.join(ROOT, 'demo/football/events.ndjson.gz'));
  /** @type {Map<string, MatchDay>} */
  const days = new Map();
  for (const line of gunzipSync(file).toString().trimEnd().split('\n')) {
    const { occurredAt, attributes } = /** @type {FootballEvent} */ (JSON.parse(line));
    const date = occurredAt.slice(0, 10);
    const day = days.get(date) ?? { date, lines: [], tables: [] };
    days.set(date, day);
    day.lines.push(line);
    const table = `football/${attributes.league}/${attributes.season}`;
    if (!day.tables.includes(table)) day.tables.push(table);
  }
  return [...days.values()];
}

/**
 * Sends match days, `speed` of them a second: all events of a day at once.
 * @param {import('./instance.mjs').DemoInstance} ranklog
 * @param {{ days: MatchDay[], speed: number, signal?: AbortSignal, onDay?: (day: MatchDay) => void
 * }} options
 * @throws AbortError after `signal`, or SendError
 */
export async function replay({ kafka, name }, { days, speed, signal, onDay }) {
  const producer = new ScoreProducer({ kafka, topicPrefix: name });
  await producer.connect();
  const sendAll = async () => {
    const begin = performance.now();
    for (const [index, day] of days.entries()) {
      const due = begin + (index * 1_000) / speed;
      await delay(Math.max(0, due - performance.now()), undefined, { ...(signal && { signal }) });
      onDay?.(day);
      await producer.sendMessages(day.lines.map((line) => producer.toMessage(line)));
    }
  };
  await withCleanUp(sendAll, () => producer.disconnect());
}

// `npm run build && node bench/decode.mjs`: how many score events a second one thread decodes.
import { cloudEventHeaders, decodeScoreEvent, SCORE_EVENT_TYPE } from '#contracts';
import { median } from './apply/measure.mjs';

const EVENTS = 200_000;
const ROUNDS = 5;

const attributes = {
  league: 'en.1',
  season: '2019-20',
  round: 'Matchday 12',
  home: 'Arsenal FC',
  away: 'Chelsea FC',
  venue: 'home',
  result: 'win',
  half: '1-0',
  final: '2-1',
  weekday: 'Sunday',
};

const football = (/** @type {number} */ number) => ({
  board: 'football',
  playerId: `Arsenal FC ${number % 500}`,
  deltas: { points: 3, goalDifference: 1, goalsFor: 2 },
  occurredAt: '2019-11-24T16:30:00.000Z',
  eventId: `en.1/2019-20/${number}`,
  attributes,
});

const headerTexts = cloudEventHeaders({ id: 'e-1', type: SCORE_EVENT_TYPE, source: '/bench' });
const cloudHeaders = Object.fromEntries(
  Object.entries(headerTexts).map(([name, text]) => [name, Buffer.from(text)]),
);

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {(number: number) => object} eventOf
 * @property {import('#contracts').RecordHeaders} headers
 */

/** @type {Case[]} */
const CASES = [
  {
    name: 'small, plain JSON',
    eventOf: (number) => ({ board: 'arena', playerId: `p-${number}`, delta: 12 }),
    headers: {},
  },
  { name: 'football, plain JSON', eventOf: football, headers: {} },
  { name: 'football, CloudEvent', eventOf: football, headers: cloudHeaders },
  {
    // So many digits make the decoder parse the JSON a second time, for exact numbers
    name: 'football, long decimal',
    eventOf: (number) => ({ ...football(number), odds: 1.8333333333333333 }),
    headers: {},
  },
  {
    name: 'refused (no zone)',
    eventOf: (number) => ({ ...football(number), occurredAt: '2019-11-24T16:30:00' }),
    headers: {},
  },
];

for (const { name, eventOf, headers } of CASES) {
  const records = Array.from({ length: EVENTS }, (_, number) => {
    const value = Buffer.from(JSON.stringify(eventOf(number)));
    return { key: null, value, headers };
  });
  const rates = Array.from({ length: ROUNDS }, () => decodeAll(records));
  const rate = Math.round(median(rates) / 1_000);
  console.log(
    `${name.padEnd(24)} ${records[0]?.value.length} bytes  ${rate}k events/s (median of ${ROUNDS})`,
  );
}

/** Events per second. @param {import('#contracts').RawRecord[]} records */
function decodeAll(records) {
  const start = performance.now();
  for (const record of records) decodeScoreEvent(record);
  const milliseconds = performance.now() - start;
  return (EVENTS / milliseconds) * 1_000;
}

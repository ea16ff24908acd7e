// How fast score events are decoded, one thread. Needs a build: npm run build && node
// bench/decode.mjs
import { cloudEventHeaders, decodeScoreEvent, SCORE_EVENT_TYPE } from '#contracts';

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

const football = (/** @type {number} */ n) => ({
  board: 'football',
  playerId: `Arsenal FC ${n % 500}`,
  deltas: { points: 3, goalDifference: 1, goalsFor: 2 },
  occurredAt: '2019-11-24T16:30:00.000Z',
  eventId: `en.1/2019-20/${n}`,
  attributes,
});

const headers = Object.fromEntries(
  Object.entries(cloudEventHeaders({ id: 'e-1', type: SCORE_EVENT_TYPE, source: '/bench' })).map(
    ([name, text]) => [name, Buffer.from(text)],
  ),
);

/**
 * @type {Record<string, (n: number) => [event: object, headers:
 * import('#contracts').RecordHeaders]>}
 */
const CASES = {
  'small, plain JSON': (n) => [{ board: 'arena', playerId: `p-${n}`, delta: 12 }, {}],
  'football, plain JSON': (n) => [football(n), {}],
  'football, CloudEvent': (n) => [football(n), headers],
  // A number with so many digits makes exactDeltas parse the JSON again, for exact numbers.
  'football, long decimal': (n) => [{ ...football(n), odds: 1.8333333333333333 }, {}],
  'refused (no zone)': (n) => [{ ...football(n), occurredAt: '2019-11-24T16:30:00' }, {}],
};

for (const [name, make] of Object.entries(CASES)) {
  const records = Array.from({ length: EVENTS }, (_, n) => {
    const [event, some] = make(n);
    return { key: null, value: Buffer.from(JSON.stringify(event)), headers: some };
  });
  const rates = Array.from({ length: ROUNDS }, () => decodeAll(records)).sort((a, b) => a - b);
  const rate = Math.round((rates[Math.floor(ROUNDS / 2)] ?? 0) / 1_000);
  console.log(
    `${name.padEnd(24)} ${records[0]?.value.length} bytes  ${rate}k events/s (median of ${ROUNDS})`,
  );
}

/** Events per second. @param {import('#contracts').RawRecord[]} records */
function decodeAll(records) {
  const start = performance.now();
  for (const record of records) decodeScoreEvent(record);
  return (EVENTS / (performance.now() - start)) * 1_000;
}

// @ts-check
// `npm run bench:bans -- [--bans N] [--views N] [--rate N] [--json]`: bans many players of a board
// with many views at once, while score events of other players come in. Prints how long that takes,
// and the latency of the events meanwhile and before.
import { Partitioners } from 'kafkajs';
import { BoardReader } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import { LiveTraffic } from '../live-traffic.mjs';
import { score } from '../log.mjs';
import { redisCpu } from '../apply/measure.mjs';
import { readOptions, wholeNumber } from '../options.mjs';
import { startRanklog } from '../ranklog.mjs';
import { withSandbox } from '../sandbox.mjs';
import { setTimeout as delay } from 'node:timers/promises';

const BATCH = 1_000;
const QUIET_MS = 10_000;
const FIELDS = ', dimensions: [[], [season]], publish: { leaders: 10 }';

const values = readOptions('bans', {
  bans: { type: 'string', default: '10000' },
  views: { type: 'string', default: '2000' },
  rate: { type: 'string', default: '500' },
  json: { type: 'boolean', default: false },
});
const bans = wholeNumber('bans', values.bans, { least: 1, most: 100_000 });
const views = wholeNumber('views', values.views, { least: 1, most: 100_000 });
const rate = wholeNumber('rate', values.rate, { least: 1, most: 10_000 });

const found = await withSandbox(measure);
if (values.json) console.log(JSON.stringify({ bans, views, rate, ...found }));
else print(found);

/** @param {import('../sandbox.mjs').Sandbox} sandbox */
async function measure(sandbox) {
  await fillSeasons(sandbox);
  const service = startRanklog(sandbox, { fields: FIELDS });
  const traffic = new LiveTraffic(sandbox, { players: 10_000 });
  const { kafka, redis, name } = sandbox;
  const producer = new ScoreProducer({ kafka, topicPrefix: name });
  const reader = new BoardReader({ redis, prefix: name });
  const moderation = new ModerationProducer({ producer, reader });
  try {
    await sandbox.reached(bans, service);
    await Promise.all([traffic.open(), producer.connect()]);
    const quiet = await traffic.during(rate, () => delay(QUIET_MS));
    const cpu = await redisCpu(redis);
    const begin = performance.now();
    const banned = await traffic.during(rate, async () => {
      await moderation.send('banned', Array.from({ length: bans }, (_, index) => {
        return { board: 'arena', playerId: `cheater-${index}` };
      })); // prettier-ignore
      while ((await reader.bans('arena', { limit: 1 })).count < bans) await delay(100);
    });
    const seconds = (performance.now() - begin) / 1_000;
    const redisMs = ((await redisCpu(redis)) - cpu) / 1_000 / bans;
    const { size } = await reader.standings('arena', { view: 'all', limit: 1 });
    return { seconds, redisMs, quiet, banned, left: size };
  } finally {
    await Promise.all([traffic.close(), producer.disconnect()]);
    await service.end('SIGTERM');
  }
}

/**
 * An event of each player who will be banned, in turn for each season. @param
 * {import('../sandbox.mjs').Sandbox} sandbox
 */
async function fillSeasons({ kafka, topics }) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (let at = 0; at < bans; at += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, bans - at) }, (_, index) => {
      const key = `cheater-${at + index}`;
      const event = /** @type {{ attributes: object }} */ (
        JSON.parse(String(score(at + index, 1).value))
      );
      const attributes = { ...event.attributes, season: `season-${(at + index) % views}` };
      return { key, value: JSON.stringify({ ...event, playerId: key, attributes }) };
    });
    await producer.send({ topic: topics.scoreEvents, messages });
  }
  await producer.disconnect();
}

/** @param {Awaited<ReturnType<typeof measure>>} found */
function print({ seconds, redisMs, quiet, banned }) {
  const ms = (/** @type {import('../live-traffic.mjs').Latencies} */ { p50, p95, worst }) =>
    `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)}, worst ${worst.toFixed(0)}`;
  console.log(
    `${bans} players of ${views} views banned in ${seconds.toFixed(1)} s; ${redisMs.toFixed(2)} ` +
      'ms CPU of Redis for each, events included\n' +
      `latency of ${rate} events/s, before: ${ms(quiet)}\n` +
      `                   meanwhile: ${ms(banned)}`,
  );
}

// Pays the prizes of each week, and pays nobody twice, whenever it is killed and started again:
//   npm install @ranklog/client kafkajs@2.2.4 ioredis
//   KAFKA_BROKERS=127.0.0.1:9092 REDIS_URL=redis://127.0.0.1:6379 node prizes.mjs
import { PeriodResultSubscriber, periodResultId } from '@ranklog/client';
import { Redis } from 'ioredis';
import { Kafka } from 'kafkajs';

const { env } = process;
const kafka = new Kafka({ brokers: [env.KAFKA_BROKERS ?? '127.0.0.1:9092'] });
const redis = new Redis(env.REDIS_URL ?? 'redis://127.0.0.1:6379');
const topicPrefix = env.RANKLOG_TOPIC_PREFIX ?? 'ranklog';
const groupId = `${topicPrefix}-prizes`;
const subscriber = new PeriodResultSubscriber({ kafka, groupId, topicPrefix, fromBeginning: true });

/**
 * The coins for a place among `size` players. Players with equal columns share a place.
 * A result has up to 500 players, which are all of the top 5 % of 10,000.
 * @param {number} place @param {number} size
 */
function coinsFor(place, size) {
  if (place === 1) return 1_000;
  if (place <= 3) return 300;
  return place <= 0.05 * size ? 50 : 0;
}

await subscriber.start(async (result) => {
  const { board, view, window, revision, size, results } = result;
  // The topic has the results of all boards. Guilds get no prizes.
  if (board !== 'weekly' || view !== window) return;
  // A later revision is the whole result once more, as it is after a ban or a void. Its payments
  // would have other ids, so they would be paid on top. Here, people decide on it.
  if (revision > 1) return;
  for (const { playerId, competitionRank } of results) {
    const coins = coinsFor(competitionRank, size);
    if (coins === 0) continue;
    // The table of payments has one for each result and player: a result that comes again adds
    // none. In SQL: INSERT ... ON CONFLICT DO NOTHING, in the transaction that changes the balance.
    const payment = `${periodResultId(result)} ${playerId}`;
    const isNew = await redis.hsetnx(`${topicPrefix}-payments`, payment, coins);
    if (isNew) console.log(`${playerId} gets ${coins} coins`);
  }
});

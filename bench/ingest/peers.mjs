// @ts-check

/** @typedef {{ kafka: import('kafkajs').Kafka, redis: import('ioredis').Redis, topics: { scoreEvents: string, rankChanges: string }, name: string, events: number }} Bench */
/** @typedef {{ playerId: string, delta: string }} Event */

/**
 * The usual solution in its fastest form: a counter in a batch handler. After a crash, it counts some events twice.
 * @param {Bench} bench
 * @returns {Promise<number>} events per second
 */
export function runCounter(bench) {
  const key = `${bench.name}-counter`;
  return consume(bench, `${bench.name}-counter`, async (messages) => {
    const pipeline = bench.redis.pipeline();
    for (const { playerId, delta } of messages.map(toEvent))
      pipeline.zincrby(key, Number(delta), playerId);
    await pipeline.exec();
  });
}

/**
 * The counter with the output of ranklog: ranks before and after, and a result for every event, up
 * to 500 in one transaction with the offset. It is not atomic in Redis, ranks ties by player id and not by
 * reach time, and after a crash it counts some events twice.
 * @param {Bench} bench
 * @returns {Promise<number>} events per second
 */
export async function runRanked(bench) {
  const { kafka, redis, name, topics } = bench;
  const key = `${name}-ranked`;
  const groupId = `${name}-ranked`;
  /** @type {Map<number, import('kafkajs').Producer>} */
  const producers = new Map();
  const rate = await consume(bench, groupId, async (messages, partition, nextOffset) => {
    const events = messages.map(toEvent);
    const pipeline = redis.pipeline();
    for (const { playerId, delta } of events)
      pipeline
        .zrevrank(key, playerId)
        .zincrby(key, Number(delta), playerId)
        .zrevrank(key, playerId);
    const replies = (await pipeline.exec()) ?? [];
    const results = events.map(({ playerId }, index) => {
      const [before, score, after] = replies
        .slice(3 * index, 3 * index + 3)
        .map(([, reply]) => reply);
      return {
        key: playerId,
        partition,
        headers: HEADERS,
        value: JSON.stringify({ playerId, before, score, after }),
      };
    });
    const transaction = await (await producerOf(partition)).transaction();
    await transaction.send({ topic: topics.rankChanges, messages: results });
    const partitions = [{ partition, offset: nextOffset }];
    await transaction.sendOffsets({
      consumerGroupId: groupId,
      topics: [{ topic: topics.scoreEvents, partitions }],
    });
    await transaction.commit();
  });
  for (const producer of producers.values()) await producer.disconnect();
  return rate;

  /** @param {number} partition @returns {Promise<import('kafkajs').Producer>} */
  async function producerOf(partition) {
    const known = producers.get(partition);
    if (known !== undefined) return known;
    const producer = kafka.producer({
      transactionalId: `${groupId}-${partition}`,
      maxInFlightRequests: 1,
      idempotent: true,
      retry: { initialRetryTime: 20, retries: 10 },
    });
    producers.set(partition, producer);
    await producer.connect();
    return producer;
  }
}

const HEADERS = {
  ce_id: 'x/0/0',
  ce_type: 'rank-changed',
  ce_source: '/peer',
  ce_specversion: '1.0',
  'content-type': 'application/json',
};
const MAX_MESSAGES = 500;

/**
 * Reads the whole log once, in batches of at most MAX_MESSAGES.
 * @param {Bench} bench @param {string} groupId
 * @param {(messages: import('kafkajs').KafkaMessage[], partition: number, nextOffset: string) => Promise<void>} handle
 * @returns {Promise<number>} events per second, from the first batch to the last
 */
async function consume({ kafka, topics, events }, groupId, handle) {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topics.scoreEvents], fromBeginning: true });
  let done = 0;
  let begin = 0;
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    void consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: 4,
      eachBatch: async ({ batch }) => {
        begin ||= performance.now();
        for (let from = 0; from < batch.messages.length; from += MAX_MESSAGES) {
          const messages = batch.messages.slice(from, from + MAX_MESSAGES);
          await handle(messages, batch.partition, String(Number(messages.at(-1)?.offset) + 1));
          done += messages.length;
        }
        if (done >= events) resolve(undefined);
      },
    });
  });
  const seconds = (performance.now() - begin) / 1_000;
  await consumer.disconnect();
  return events / seconds;
}

/** @param {import('kafkajs').KafkaMessage} message @returns {Event} */
function toEvent({ value }) {
  /** @type {unknown} */
  const event = JSON.parse(value?.toString() ?? '');
  return /** @type {Event} */ (event);
}

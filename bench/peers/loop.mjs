// @ts-check
// The usual counter in its fastest form: a bare kafkajs eachBatch loop with pipelined ZINCRBY. No
// ranks, no results; after a crash, it counts some events twice.
import { consume, newKafka, newRedis, task, toEvent } from './peer.mjs';

const own = task();
const redis = newRedis();

await consume(newKafka(), own, async ({ messages }) => {
  const pipeline = redis.pipeline();
  for (const { playerId, delta } of messages.map(toEvent))
    pipeline.zincrby(own.name, delta, playerId);
  await pipeline.exec();
});

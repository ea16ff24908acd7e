// @ts-check
// A bare kafkajs eachBatch loop with pipelined ZINCRBY: what a rebuild without guarantees costs.
import { runCounter } from '../ingest/peers.mjs';
import { clients, task, tell } from './peer.mjs';

const { kafka, redis } = clients();
const { events, ...rest } = task();
const rate = await runCounter({ kafka, redis, events, ...rest });
redis.disconnect();
tell(events / rate);

// @ts-check
// Stock Nest applications on its Kafka transport, with the defaults of Nest: a handler that counts
// in Redis; with `ranks` as the second argument, one that also reads the ranks before and after,
// and emits a result.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientKafka, EventPattern, Payload, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { applied, brokers, newRedis, task } from './peer.mjs';

const own = task();
const { topics, name: key } = own;
const hasRanks = process.argv[3] === 'ranks';
const redis = newRedis();
const client = new ClientKafka({ client: { brokers: brokers() }, producerOnlyMode: true });
if (hasRanks) await client.connect();

class Scores {
  /** @param {import('./peer.mjs').Event} event */
  async add({ playerId, delta, ...event }) {
    if (hasRanks) {
      const before = await redis.zrevrank(key, playerId);
      const score = await redis.zincrby(key, delta, playerId);
      const after = await redis.zrevrank(key, playerId);
      const value = { ...event, playerId, before, score, after };
      await lastValueFrom(client.emit(topics.rankChanges, { key: playerId, value }));
    } else await redis.zincrby(key, delta, playerId);
    applied(1, own);
  }
}
// What @Controller(), @EventPattern(topic), @Payload() and @Module({ controllers: [Scores] }) do in
// TypeScript.
const method = Object.getOwnPropertyDescriptor(Scores.prototype, 'add');
if (method === undefined) throw new Error('the handler is not there');
EventPattern(topics.scoreEvents)(Scores.prototype, 'add', method);
Payload()(Scores.prototype, 'add', 0);
Controller()(Scores);
class Application {}
Module({ controllers: [Scores] })(Application);

const app = await NestFactory.createMicroservice(Application, {
  transport: Transport.KAFKA,
  logger: ['error', 'warn'],
  options: {
    client: { brokers: brokers() },
    consumer: { groupId: key },
    subscribe: { fromBeginning: true },
  },
});
await app.listen();

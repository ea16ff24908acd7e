// @ts-check
// A stock Nest application on its Kafka transport: one handler that counts in Redis, with the defaults of Nest.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, Payload, Transport } from '@nestjs/microservices';
import { brokers, clients, task, tell } from './peer.mjs';

const { topics, name, events } = task();
const { redis } = clients();
const key = `${name}-handler`;
let begin = 0;
let done = 0;
/** @type {() => void} */
let finish = () => undefined;
const finished = new Promise((resolve) => (finish = () => resolve(undefined)));

class Scores {
  /** @param {{ playerId: string, delta: string }} event */
  async add({ playerId, delta }) {
    begin ||= performance.now();
    await redis.zincrby(key, Number(delta), playerId);
    done += 1;
    if (done === events) finish();
  }
}
// What @Controller(), @EventPattern(topic), @Payload() and @Module({ controllers: [Scores] }) do in TypeScript.
const method = Object.getOwnPropertyDescriptor(Scores.prototype, 'add');
if (method === undefined) throw new Error('the handler is not there');
EventPattern(topics.scoreEvents)(Scores.prototype, 'add', method);
Payload()(Scores.prototype, 'add', 0);
Controller()(Scores);
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- a module of Nest
class Application {}
Module({ controllers: [Scores] })(Application);

const app = await NestFactory.createMicroservice(Application, {
  transport: Transport.KAFKA,
  logger: ['error', 'warn'],
  options: {
    client: { brokers: brokers() },
    consumer: { groupId: `${name}-handler` },
    subscribe: { fromBeginning: true },
  },
});
await app.listen();
await finished;
const seconds = (performance.now() - begin) / 1_000;
await app.close();
redis.disconnect();
tell(seconds);

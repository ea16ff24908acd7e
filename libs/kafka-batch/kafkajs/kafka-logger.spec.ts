import { expect, it, jest } from '@jest/globals';
import { Kafka, logLevel, type ProducerConfig } from 'kafkajs';
import { kafkaLogCreator, limitedProducer } from './kafka-logger.js';

it.each([
  ['debug', 'a handled error', logLevel.ERROR, 'Connection'],
  ['debug', 'a handled warning', logLevel.WARN, 'Runner'],
  ['debug', 'a late answer', logLevel.WARN, 'RequestQueue'],
  ['debug', 'progress', logLevel.INFO, 'Consumer'],
  ['warn', 'another warning', logLevel.WARN, 'Admin'],
  ['error', 'another error', logLevel.ERROR, 'Consumer'],
])('writes to %s: %s', (target, message, level, namespace) => {
  const lines: string[] = [];
  const to = (name: string) => (text: string) => lines.push(`${name}: ${text}`);
  const logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
  const log = kafkaLogCreator(logger)(logLevel.INFO);
  log({ namespace, level, label: 'x', log: { timestamp: '', message } });
  expect(lines).toEqual([`${target}: kafkajs: ${message}`]);
});

it('creates a producer with limited retries without the warning of kafkajs, and logs all others', () => {
  const lines: string[] = [];
  const logCreator = () => (entry: { log: { message: string } }) => {
    lines.push(entry.log.message);
  };
  const kafka = new Kafka({ brokers: ['localhost:1'], logCreator });
  const create = jest.spyOn(kafka, 'producer');
  const config: ProducerConfig = {
    idempotent: true,
    createPartitioner: () => () => 0,
    retry: { retries: 10 },
  };
  limitedProducer(kafka, config).logger().warn('another one');
  expect(lines).toEqual(['another one']);
  expect(create.mock.calls).toEqual([[config]]);
  kafka.producer(config); // the client logs as before
  expect(lines.at(-1)).toMatch(/^Limiting retries/);
});

import { expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { KafkaUnreachableError } from '#kafka-batch';
import { definitionsLog } from './definitions-log.js';

it('says which topic was not read if Kafka does not answer in time', async () => {
  const { Kafka, logLevel } = kafkajs;
  const retry = { retries: 0 };
  const kafka = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING, retry });
  const ranges = new Map([[0, { start: 0, end: 1 }]]);
  const failure = await definitionsLog(kafka, 'x.definitions', ranges)
    .next()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(KafkaUnreachableError);
  expect((failure as Error).message).toBe(
    'Kafka did not answer within 10000 ms: x.definitions was not read to its end',
  );
});

import { describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { KafkaUnreachableError, LeaderChangeFollower } from './index.js';

describe('LeaderChangeFollower', () => {
  it('says that Kafka does not answer', async () => {
    const kafka = new Kafka({
      brokers: ['127.0.0.1:1'],
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
    });
    const opened = LeaderChangeFollower.open({ kafka }, () => undefined);
    await expect(opened).rejects.toThrow(KafkaUnreachableError);
  });
});

import kafkajs, { type Kafka, type KafkaConfig } from 'kafkajs';

/** A Kafka client of the tests: without a word, and patient with a machine that stands still for seconds. */
export function testKafka(config: KafkaConfig): Kafka {
  return new kafkajs.Kafka({
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 20_000,
    ...config,
  });
}

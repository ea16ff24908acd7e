import { Kafka, logLevel, type Admin, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { topicNames, type TopicNames } from '#contracts';
import { kafkaLogCreator } from '#kafka-batch';
import { tlsOptions, type Settings } from '../config/settings.js';
import type { Logger } from './logger.js';

/** A request without a response fails after this time; the next one uses another connection. */
const REQUEST_TIMEOUT_MS = 10_000;

/** The Kafka client, an admin client (its users connect and disconnect it), and the topic names. */
export class KafkaConnection {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topics: TopicNames;

  constructor(settings: Settings, logger: Logger) {
    this.kafka = createKafka(settings, logger);
    this.admin = this.kafka.admin();
    this.topics = topicNames(settings.topicPrefix);
  }
}

export function createKafka(settings: Settings, logger: Logger, retries = 8): Kafka {
  const config: KafkaConfig = {
    clientId: 'ranklog',
    brokers: [...settings.kafkaBrokers],
    ssl: settings.kafkaSsl && tlsOptions(settings, 'kafkaSsl'),
    requestTimeout: REQUEST_TIMEOUT_MS,
    logLevel: logLevel.INFO,
    logCreator: kafkaLogCreator(logger),
    // kafkajs has other defaults under NODE_ENV=test.
    retry: { initialRetryTime: 100, retries, maxRetryTime: 5_000 },
  };
  if (settings.kafkaSaslMechanism !== '')
    config.sasl = {
      mechanism: settings.kafkaSaslMechanism,
      username: settings.kafkaSaslUsername,
      password: settings.kafkaSaslPassword,
    } as SASLOptions;
  return new Kafka(config);
}

import { Kafka, logLevel, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { kafkaLogCreator } from '#kafka-batch';
import type { Logger } from './logger.js';
import type { Settings } from '../config/settings.js';

/** A broker that is silent for so long is taken for lost: the request fails, and the next goes over another connection. */
const REQUEST_TIMEOUT_MS = 10_000;

/** A Kafka client of the settings; what makes requests is derived from it. */
export function kafkaFrom(settings: Settings, logger: Logger, retries = 8): Kafka {
  const config: KafkaConfig = {
    clientId: 'ranklog',
    brokers: [...settings.kafkaBrokers],
    ssl: settings.kafkaSsl,
    requestTimeout: REQUEST_TIMEOUT_MS,
    logLevel: logLevel.INFO,
    logCreator: kafkaLogCreator(logger),
    // kafkajs has other defaults under NODE_ENV=test; these hold everywhere.
    retry: { initialRetryTime: 100, retries, maxRetryTime: 5_000 },
  };
  if (settings.kafkaSaslMechanism !== '') config.sasl = saslFrom(settings);
  return new Kafka(config);
}

function saslFrom(settings: Settings): SASLOptions {
  const { kafkaSaslMechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = settings;
  return { mechanism: kafkaSaslMechanism, username, password } as SASLOptions;
}

import {
  logLevel,
  type Kafka,
  type logCreator,
  type Logger,
  type Producer,
  type ProducerConfig,
} from 'kafkajs';

export type KafkaBatchLogger = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/**
 * Parts of kafkajs that log an error before they retry or throw it. This library reports an error
 * after the last retry. RequestQueue warns about an answer that nobody waits for any more. Such an
 * answer can arrive while a connection closes.
 */
const HANDLED = new Set([
  'BrokerPool',
  'Cluster',
  'Connection',
  'ConsumerGroup',
  'Producer',
  'RequestQueue',
  'Runner',
]);

/** A kafkajs logCreator for our logger. Information and handled errors get the level debug. */
export function kafkaLogCreator(logger: KafkaBatchLogger): logCreator {
  return () =>
    ({ namespace, level, log: { message, ...facts } }) => {
      const text = `kafkajs: ${message}`;
      const about = { broker: facts['broker'] as unknown, error: facts['error'] as unknown };
      if (level >= logLevel.INFO || HANDLED.has(namespace)) logger.debug(text, about);
      else if (level === logLevel.WARN) logger.warn(text, about);
      else logger.error(text, about);
    };
}

const LIMITED_RETRIES =
  'Limiting retries for the idempotent producer may invalidate EoS guarantees';

/**
 * Creates a producer without the warning that kafkajs logs for each idempotent one with limited
 * retries. Limits are right where a failed send rejects: its caller decides whether to send again.
 */
export function limitedProducer(kafka: Kafka, config: ProducerConfig): Producer {
  const root = kafka.logger();
  const { namespace } = root;
  root.namespace = (...args) => {
    const logger = namespace(...args);
    const warn: Logger['warn'] = (message, extra) => {
      if (message !== LIMITED_RETRIES) logger.warn(message, extra);
    };
    return { ...logger, warn };
  };
  try {
    return kafka.producer(config);
  } finally {
    root.namespace = namespace;
  }
}

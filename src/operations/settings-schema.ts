import convict, { type Format } from 'convict';
import { CronTime } from 'cron';
import ms from 'ms';

/** Formats that convict does not bring: each says what it takes. */
const FORMATS: Format[] = [
  {
    name: 'text',
    validate: (value: unknown) =>
      expect(typeof value === 'string' && value.trim() !== '', 'a text that is not empty'),
    coerce: (value: unknown) => value,
  },
  {
    name: 'kafka-name',
    validate: (value: unknown) =>
      expect(
        typeof value === 'string' && /^[A-Za-z0-9._-]{1,200}$/.test(value),
        'up to 200 letters, digits, . _ or -',
      ),
    coerce: (value: unknown) => value,
  },
  {
    name: 'whole',
    validate: (value: unknown) =>
      expect(
        Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100_000,
        'a whole number from 1 to 100000',
      ),
    coerce: (value: unknown) =>
      typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  },
  {
    name: 'rate-or-0',
    validate: (value: unknown) =>
      expect(
        Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 10_000_000,
        'a whole number from 0 to 10000000',
      ),
    coerce: (value: unknown) =>
      typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  },
  {
    name: 'port-or-any',
    validate: (value: unknown) =>
      expect(
        Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
        'a port from 1 to 65535, or 0 for any free one',
      ),
    coerce: (value: unknown) =>
      typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  },
  {
    name: 'replication',
    validate: (value: unknown) =>
      expect(
        Number.isInteger(value) && (value === -1 || Number(value) >= 1),
        "-1 (the broker's default) or a whole number from 1",
      ),
    coerce: (value: unknown) =>
      typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
  },
  {
    name: 'duration-ms',
    validate: (value: unknown) =>
      expect(
        typeof value === 'number' && value > 0 && value <= 86_400_000,
        'a duration such as 500ms, 30s or 5m, up to 1d',
      ),
    coerce: durationMs,
  },
  {
    name: 'duration-ms-or-0',
    validate: (value: unknown) =>
      expect(
        typeof value === 'number' && value >= 0 && value <= 86_400_000,
        'a duration such as 500ms, 30s or 5m, up to 1d, or 0 for never',
      ),
    coerce: (value: unknown) => (value === '0' ? 0 : durationMs(value)),
  },
  {
    name: 'cron-or-none',
    validate: (value: unknown) =>
      expect(
        value === '' || (typeof value === 'string' && isCron(value, 'UTC')),
        'a cron expression that comes true some day, such as "0 4 * * *" (minute, hour, day, month, day of the week; seconds may come first)',
      ),
    coerce: (value: unknown) => value,
  },
  {
    name: 'time-zone',
    validate: (value: unknown) =>
      expect(
        typeof value === 'string' && isCron('* * * * *', value),
        'an IANA time zone such as UTC or Europe/Berlin',
      ),
    coerce: (value: unknown) => value,
  },
  {
    name: 'switch',
    validate: (value: unknown) => {
      expect(typeof value === 'boolean', 'true or false');
    },
    coerce: (value: unknown) => (value === 'true' || value === 'false' ? value === 'true' : value),
  },
  {
    name: 'brokers',
    validate: (value: unknown) =>
      expect(
        Array.isArray(value) &&
          value.length > 0 &&
          value.every((broker) => /^[^\s:,]+:\d{1,5}$/.test(String(broker))),
        'host:port, several separated by commas',
      ),
    coerce: (value: unknown) =>
      typeof value === 'string' ? value.split(',').map((broker) => broker.trim()) : value,
  },
  {
    name: 'redis-url',
    validate: (value: unknown) =>
      expect(
        typeof value === 'string' && /^rediss?:\/\/\S+$/.test(value),
        'redis://host:port or rediss://host:port',
      ),
    coerce: (value: unknown) => value,
  },
];

/** Whether the library that runs the schedule can tell the next time of it. */
function isCron(expression: string, timeZone: string): boolean {
  try {
    new CronTime(expression, timeZone).sendAt();
    return true;
  } catch {
    return false; // its words are for programmers
  }
}

/** A number of ms where a unit is given; without one it is left as it is, and refused. */
function durationMs(value: unknown): unknown {
  return typeof value === 'string' && /[a-z]$/i.test(value) ? ms(value as ms.StringValue) : value;
}

function expect(holds: boolean, allowed: string): void {
  if (!holds) throw new Error(allowed);
}

for (const format of FORMATS) convict.addFormat(format);

/** Every setting: its key in the file, its environment variable, what it is for, its default. */
export const SETTINGS_SCHEMA = {
  boards: {
    doc: 'The boards file (YAML).',
    format: 'text',
    default: './boards.yaml',
    env: 'RANKLOG_BOARDS',
  },
  topicPrefix: {
    doc: 'What the names of all topics begin with.',
    format: 'kafka-name',
    default: 'ranklog',
    env: 'RANKLOG_TOPIC_PREFIX',
  },
  group: {
    doc: 'The consumer group of ingest.',
    format: 'kafka-name',
    default: 'ranklog',
    env: 'RANKLOG_GROUP',
  },
  redisPrefix: {
    doc: 'What all keys in Redis begin with.',
    format: 'kafka-name',
    default: 'ranklog',
    env: 'RANKLOG_REDIS_PREFIX',
  },
  shards: {
    doc: 'Number of shards; fixed by the first start.',
    format: 'whole',
    default: 1,
    env: 'RANKLOG_SHARDS',
  },
  partitions: {
    doc: 'Partitions of topics that "ranklog topics" creates.',
    format: 'whole',
    default: 4,
    env: 'RANKLOG_PARTITIONS',
  },
  replicationFactor: {
    doc: 'Replicas of topics that "ranklog topics" creates; -1 is the broker\'s default.',
    format: 'replication',
    default: -1,
    env: 'RANKLOG_REPLICATION_FACTOR',
  },
  startTimeout: {
    doc: 'How long to wait for Kafka and Redis at the start.',
    format: 'duration-ms',
    default: '30s',
    env: 'RANKLOG_START_TIMEOUT',
  },
  sessionTimeout: {
    doc: 'How long Kafka waits for a silent instance before others get its partitions.',
    format: 'duration-ms',
    default: '10s',
    env: 'RANKLOG_SESSION_TIMEOUT',
  },
  shutdownTimeout: {
    doc: 'How long a shutdown may take before it is forced.',
    format: 'duration-ms',
    default: '10s',
    env: 'RANKLOG_SHUTDOWN_TIMEOUT',
  },
  stallTimeout: {
    doc: 'How long there may be work and no progress before the process ends itself.',
    format: 'duration-ms',
    default: '2m',
    env: 'RANKLOG_STALL_TIMEOUT',
  },
  rollbackGrace: {
    doc: 'How long a generation that was replaced is kept, to roll back to; it takes memory in Redis.',
    format: 'duration-ms',
    default: '24h',
    env: 'RANKLOG_ROLLBACK_GRACE',
  },
  backgroundRate: {
    doc: 'Events per second that builds and verifies keep to which begin by themselves; 0 for as fast as they can.',
    format: 'rate-or-0',
    default: 0,
    env: 'RANKLOG_BACKGROUND_RATE',
  },
  httpHost: {
    doc: 'Where health, metrics and reconciliations are served; 0.0.0.0 is every address of the machine.',
    format: 'text',
    default: '127.0.0.1',
    env: 'RANKLOG_HTTP_HOST',
  },
  httpPort: {
    doc: 'The port of that; 0 is any free one, which the log tells.',
    format: 'port-or-any',
    default: 9464,
    env: 'RANKLOG_HTTP_PORT',
  },
  selfCheckInterval: {
    doc: 'How often the role reconciliation looks at a sample of a live board; 0 for never.',
    format: 'duration-ms-or-0',
    default: '10s',
    env: 'RANKLOG_SELF_CHECK_INTERVAL',
  },
  verifySchedule: {
    doc: 'When the role reconciliation verifies all live boards, as a cron expression; empty for never.',
    format: 'cron-or-none',
    default: '',
    env: 'RANKLOG_VERIFY_SCHEDULE',
  },
  verifyTimeZone: {
    doc: 'The time zone of that.',
    format: 'time-zone',
    default: 'UTC',
    env: 'RANKLOG_VERIFY_TIME_ZONE',
  },
  verifyRebuild: {
    doc: 'Whether boards that differ then are built again from the log.',
    format: 'switch',
    default: false,
    env: 'RANKLOG_VERIFY_REBUILD',
  },
  logLevel: {
    doc: 'How much is logged.',
    format: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    env: 'RANKLOG_LOG_LEVEL',
  },
  logFormat: {
    doc: 'How logs look; auto is pretty on a terminal, json elsewhere.',
    format: ['auto', 'pretty', 'json'],
    default: 'auto',
    env: 'RANKLOG_LOG_FORMAT',
  },
  kafkaBrokers: {
    doc: 'Where Kafka is.',
    format: 'brokers',
    default: '127.0.0.1:9092',
    env: 'KAFKA_BROKERS',
  },
  kafkaSsl: {
    doc: 'Whether to talk TLS to Kafka.',
    format: 'switch',
    default: false,
    env: 'KAFKA_SSL',
  },
  kafkaSaslMechanism: {
    doc: 'How to log in to Kafka; empty for no login.',
    format: ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
    default: '',
    env: 'KAFKA_SASL_MECHANISM',
  },
  kafkaSaslUsername: {
    doc: 'Who logs in to Kafka.',
    format: String,
    default: '',
    env: 'KAFKA_SASL_USERNAME',
  },
  kafkaSaslPassword: {
    doc: 'Their password.',
    format: String,
    default: '',
    env: 'KAFKA_SASL_PASSWORD',
    sensitive: true,
  },
  redisUrl: {
    doc: 'Where Redis is; a password in it is never shown.',
    format: 'redis-url',
    default: 'redis://127.0.0.1:6379',
    env: 'REDIS_URL',
    sensitive: true,
  },
} as const;

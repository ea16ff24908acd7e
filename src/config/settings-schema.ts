// To add a setting: add it to SETTINGS_SCHEMA, and a row to docs/reference/settings.md, which a
// spec compares. A new format (size, duration, schedule) goes into settings-formats.ts.

import * as format from './settings-formats.js';

/** A setting; its key in SETTINGS_SCHEMA is its name in the config file (see `variableOf`). */
export interface Setting<T> {
  readonly format: format.Format<T>;
  /** As it would be written in the environment or in the file. */
  readonly default: string | number | boolean;
  readonly doc: string;
  /**
   * Whether errors and `ranklog config` hide the value. A file may hold it: NAME_FILE names the
   * file. Of `redisUrl`, `ranklog config` hides only the user name and the password.
   */
  readonly isSecret: boolean;
}

function setting<T>(
  accepted: format.Format<T>,
  initial: Setting<T>['default'],
  doc: string,
  isSecret = false,
): Setting<T> {
  return { format: accepted, default: initial, doc, isSecret };
}

const { anyText, text, kafkaName, count, rate, replicas, flag, saslMechanism } = format;
const { duration, durationOrZero, origins, file } = format;

export const SETTINGS_SCHEMA = {
  boards: setting(text, './boards.yaml', 'The boards file (YAML).'),
  topicPrefix: setting(kafkaName, 'ranklog', 'The prefix of all topic names.'),
  group: setting(
    format.kafkaNameOrEmpty,
    '',
    'The group of ingest; empty: the stored one, or the topic prefix.',
  ),
  redisPrefix: setting(kafkaName, 'ranklog', 'The prefix of all keys in Redis.'),
  shards: setting(format.shards, 1, 'Number of shards, up to 256; the first start fixes it.'),
  partitions: setting(count, 4, 'Partitions of a score topic that "ranklog topics" creates.'),
  replicationFactor: setting(replicas, -1, "Replicas of new topics; -1 is the broker's default."),
  allowShortHistory: setting(flag, false, 'Accept a score topic that deletes old events.'),
  startTimeout: setting(duration, '30s', 'How long to wait for Kafka and Redis at the start.'),
  sessionTimeout: setting(duration, '10s', 'How long Kafka waits for a silent instance.'),
  shutdownTimeout: setting(duration, '10s', 'How long a shutdown may take.'),
  stallTimeout: setting(duration, '2m', 'How long work may stall; then the process exits.'),
  rollbackGrace: setting(duration, '24h', 'How long the previous generation is kept; at most 1d.'),
  clockTolerance: setting(durationOrZero, '60s', "How far behind a broker's clock may be."),
  backgroundRate: setting(rate, 0, 'Most events/s of background builds and verifies; 0: no limit.'),
  httpHost: setting(text, '127.0.0.1', 'The address of the HTTP server; 0.0.0.0 for all.'),
  httpPort: setting(format.port, 9464, 'The port of the HTTP server; 0 picks a free one.'),
  httpTokens: setting(anyText, '', 'The tokens file (YAML); empty for none, on loopback only.'),
  httpCors: setting(origins, '', 'Origins of web pages that may read (CORS); * for all.'),
  operationsHost: setting(text, '127.0.0.1', 'The address of health and metrics; 0.0.0.0 for all.'),
  operationsPort: setting(format.port, 9465, 'The port of health and metrics; 0 picks a free one.'),
  queryCache: setting(durationOrZero, '250ms', 'How long answers over HTTP are cached; 0: never.'),
  queryWrites: setting(flag, false, 'Accept score events, bans and erasures of players over HTTP.'),
  queryStreams: setting(count, 5_000, 'Most event streams over HTTP at a time.'),
  verifySchedule: setting(format.cron, '', 'When all boards are verified (cron); empty for never.'),
  verifyTimeZone: setting(format.timeZone, 'UTC', 'The time zone of RANKLOG_VERIFY_SCHEDULE.'),
  verifyRebuild: setting(flag, false, 'Rebuild boards that a scheduled verify finds different.'),
  logLevel: setting(format.logLevel, 'info', 'The lowest level that is logged.'),
  logFormat: setting(format.logFormat, 'auto', 'auto is pretty on a terminal, json elsewhere.'),
  kafkaBrokers: setting(format.brokers, '127.0.0.1:9092', 'Addresses of Kafka brokers.'),
  kafkaSsl: setting(flag, false, 'Whether to connect to Kafka over TLS.'),
  kafkaSslCa: setting(file, '', 'CA certificates for Kafka (file); empty for public CAs.'),
  kafkaSslCert: setting(file, '', 'The client certificate for Kafka (file).'),
  kafkaSslKey: setting(file, '', 'The private key of KAFKA_SSL_CERT (file).'),
  kafkaSaslMechanism: setting(saslMechanism, '', 'How to log in to Kafka; empty for no login.'),
  kafkaSaslUsername: setting(anyText, '', 'The user name for Kafka.'),
  kafkaSaslPassword: setting(anyText, '', 'The password for Kafka.', true),
  redisUrl: setting(
    format.redisUrl,
    'redis://127.0.0.1:6379',
    'The URL of Redis; a password in it is never shown.',
    true,
  ),
  redisSslCa: setting(file, '', 'CA certificates for Redis (file); empty for public CAs.'),
  redisSslCert: setting(file, '', 'The client certificate for Redis (file).'),
  redisSslKey: setting(file, '', 'The private key of REDIS_SSL_CERT (file).'),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

export type SettingName = keyof typeof SETTINGS_SCHEMA;

/**
 * The environment variable of a setting: RANKLOG_TOPIC_PREFIX of topicPrefix, KAFKA_SSL of
 * kafkaSsl, REDIS_URL of redisUrl.
 */
export function variableOf(name: SettingName): string {
  const variable = name.replace(/[A-Z]/g, '_$&').toUpperCase();
  return /^(kafka|redisUrl|redisSsl)/.test(name) ? variable : `RANKLOG_${variable}`;
}

/** The checked settings of a process. Durations are in ms. */
export type Settings = {
  readonly [Name in SettingName]: (typeof SETTINGS_SCHEMA)[Name] extends Setting<infer T>
    ? T
    : never;
};

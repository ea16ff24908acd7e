import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REDIS_URL_FORMS, withoutPassword } from '#redis-url';
import { TestCa } from '../../test/support/certificates.js';
import { loadSettings, SettingsError } from './settings.js';
import { SETTINGS_SCHEMA, variableOf, type SettingName } from './settings-schema.js';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

function configFile(text: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'ranklog-settings-')), 'ranklog.yaml');
  writeFileSync(file, text);
  return file;
}

describe('loadSettings', () => {
  it('has a default for everything', () => {
    const { settings } = loadSettings({});
    expect(settings).toMatchObject({
      group: '',
      shards: 1,
      startTimeout: 30_000,
      kafkaBrokers: ['127.0.0.1:9092'],
    });
    expect(Object.keys(settings).sort()).toEqual(Object.keys(SETTINGS_SCHEMA).sort());
  });

  it('accepts cron schedules, and 0 as a port (any free one) and as a rate (no limit)', () => {
    const { settings } = loadSettings({
      RANKLOG_HTTP_PORT: '0',
      RANKLOG_BACKGROUND_RATE: '0',
      RANKLOG_VERIFY_SCHEDULE: '*/30 0 4 * * MON',
      RANKLOG_VERIFY_TIME_ZONE: 'Europe/Berlin',
      RANKLOG_VERIFY_REBUILD: 'true',
    });
    expect(settings).toMatchObject({
      httpPort: 0,
      backgroundRate: 0,
      verifySchedule: '*/30 0 4 * * MON',
      verifyTimeZone: 'Europe/Berlin',
      verifyRebuild: true,
    });
  });

  it('prefers the environment to the file, and the file to the defaults', () => {
    const file = configFile('group: from-file\nshards: 3\n');
    const { settings, current } = loadSettings({ RANKLOG_CONFIG: file, RANKLOG_GROUP: 'from-env' });
    expect(settings).toMatchObject({ group: 'from-env', shards: 3, redisPrefix: 'ranklog' });
    const origins = Object.fromEntries(current.map(({ name, origin }) => [name, origin]));
    expect(origins).toMatchObject({ group: 'environment', shards: file, redisPrefix: 'default' });
  });

  it('reports all problems at once: the setting, the bad value, what is allowed', () => {
    expect(
      problemsOf({
        RANKLOG_SHARD: '2',
        RANKLOG_SHARDS: 'two',
        RANKLOG_START_TIMEOUT: '30',
        RANKLOG_LOG_LEVEL: 'loud',
        KAFKA_BROKERS: 'kafka',
        KAFKA_SSL: 'maybe',
        REDIS_URL: 'http://secret@redis',
        RANKLOG_HTTP_PORT: '70000',
        RANKLOG_VERIFY_SCHEDULE: '0 4 30 2 *',
        RANKLOG_VERIFY_TIME_ZONE: 'Mars/Olympus',
      }),
    ).toEqual([
      'RANKLOG_SHARD is not a setting; did you mean RANKLOG_SHARDS?',
      'RANKLOG_SHARDS: "two" is not allowed; use a whole number from 1 to 256',
      'RANKLOG_START_TIMEOUT: "30" is not allowed; use a duration such as 500ms, 30s or 5m, up to 1d',
      'RANKLOG_HTTP_PORT: "70000" is not allowed; use a port from 1 to 65535, or 0 for any free one',
      'RANKLOG_VERIFY_SCHEDULE: "0 4 30 2 *" is not allowed; use a cron expression that matches some time, such as "0 4 * * *" (minute, hour, day, month, day of the week; seconds may come first)',
      'RANKLOG_VERIFY_TIME_ZONE: "Mars/Olympus" is not allowed; use an IANA time zone such as UTC or Europe/Berlin',
      'RANKLOG_LOG_LEVEL: "loud" is not allowed; use one of ["debug","info","warn","error","silent"]',
      'KAFKA_BROKERS: "kafka" is not allowed; use host:port, several separated by commas',
      'KAFKA_SSL: "maybe" is not allowed; use true or false',
      `REDIS_URL: the value is not allowed; use ${REDIS_URL_FORMS}`,
    ]);
  });

  it('refuses unknown keys in the file, and files that do not hold settings', () => {
    const file = configFile('gruop: a\n');
    expect(problemsOf({ RANKLOG_CONFIG: file })).toEqual([
      `${file}: "gruop" is not a setting; did you mean group?`,
    ]);
    expect(problemsOf({ RANKLOG_CONFIG: configFile('- a\n') })[0]).toContain(
      'is not a list of "setting: value" lines',
    );
    expect(problemsOf({ RANKLOG_CONFIG: '/nowhere.yaml' })[0]).toContain('/nowhere.yaml');
  });

  it.each(['*hunter2', '!hunter2 x', '"hunter2'])(
    'shows no secret of a config file that cannot be read: %s',
    (value) => {
      const file = configFile(`group: a\nkafkaSaslPassword: ${value}\n`);
      const shown = problemsOf({ RANKLOG_CONFIG: file }).join();
      expect(shown).not.toContain('hunter2');
      if (!value.startsWith('!')) expect(shown).toContain(`cannot read the config file ${file}: `);
    },
  );

  it('never shows a password in the query of a URL', () => {
    const { current } = loadSettings({ REDIS_URL: 'redis://redis:1?password=hunter2' });
    expect(JSON.stringify(current)).not.toContain('hunter2');
  });

  it('never shows a secret', () => {
    const { current } = loadSettings({
      REDIS_URL: 'redis://user:hunter2@redis:1',
      KAFKA_SASL_PASSWORD: 'hunter2',
    });
    expect(JSON.stringify(current)).not.toContain('hunter2');
    expect(JSON.stringify(current)).toContain('redis://***@redis:1');
    expect(withoutPassword('redis://user:hunter@2@redis:1')).toBe('redis://***@redis:1');
    for (const [kind, rest] of [
      ['cluster', 'one:1,two:2'],
      ['sentinel', 'one:1,[::1]:2/main'],
    ] as const)
      expect(withoutPassword(`rediss+${kind}://user:hunter2@${rest}`)).toBe(
        `rediss+${kind}://***@${rest}`,
      );
  });

  it('reads a secret from the file that NAME_FILE names, without the newline at its end', () => {
    const REDIS_URL_FILE = configFile('redis://user:hunter2@redis:1\n');
    const KAFKA_SASL_PASSWORD_FILE = configFile(' hunter2\n\n');
    const { settings, current } = loadSettings({ REDIS_URL_FILE, KAFKA_SASL_PASSWORD_FILE });
    expect(settings.redisUrl).toBe('redis://user:hunter2@redis:1');
    expect(settings.kafkaSaslPassword).toBe(' hunter2\n');
    expect(JSON.stringify(current)).not.toContain('hunter2');
    expect(problemsOf({ REDIS_URL_FILE, REDIS_URL: 'redis://redis:1' })).toEqual([
      'REDIS_URL_FILE: REDIS_URL is set too; leave out one of them',
    ]);
    expect(problemsOf({ REDIS_URL_FILE: '/nowhere', KAFKA_BROKERS: 'kafka' })).toEqual([
      'REDIS_URL_FILE: "/nowhere" can\'t be read; name a file that holds the value of REDIS_URL',
      'KAFKA_BROKERS: "kafka" is not allowed; use host:port, several separated by commas',
    ]);
  });

  it('refuses files for TLS that can not be used, and files without TLS', () => {
    const ca = new TestCa();
    const { cert, key } = ca.issue('client');
    const tls = { KAFKA_SSL: 'true', KAFKA_SSL_CA: ca.cert, KAFKA_SSL_CERT: cert };
    expect(problemsOf({ ...tls, KAFKA_SSL_KEY: key })).toEqual([]);
    expect(problemsOf({ ...tls, KAFKA_SSL_CERT: ca.issue('both').both })).toEqual([]);
    const problem = (reason: string) =>
      `KAFKA_SSL_CERT: "${cert}" does not work with its key or CA (${reason}); name PEM files that can be read, the key without a passphrase`;
    expect(problemsOf({ ...tls, KAFKA_SSL_KEY: ca.issue('other').key })).toEqual([
      problem('error:05800074:x509 certificate routines::key values mismatch'),
    ]);
    expect(problemsOf({ ...tls, KAFKA_SSL_KEY: cert })).toHaveLength(1);
    expect(problemsOf(tls)).toHaveLength(1);
    expect(problemsOf({ ...tls, KAFKA_SSL_CA: ca.folder, KAFKA_SSL_KEY: key })).toEqual([
      problem('EISDIR: illegal operation on a directory, read'),
    ]);
    expect(problemsOf({ REDIS_SSL_CA: '/nowhere' })).toEqual([
      'REDIS_SSL_CA: "/nowhere" is not allowed; use the path of a file',
    ]);
    expect(problemsOf({ KAFKA_SSL_CA: ca.cert, REDIS_SSL_CA: ca.cert })).toEqual([
      'KAFKA_SSL_CA and KAFKA_SSL_CERT need TLS; set KAFKA_SSL=true, or leave them empty',
      'REDIS_SSL_CA and REDIS_SSL_CERT need TLS; begin REDIS_URL with rediss, or leave them empty',
    ]);
    ca.remove();
  });

  it('matches docs/reference/settings.md, setting by setting', () => {
    const rows = readFileSync('docs/reference/settings.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', '')),
      );
    const expected = Object.entries(SETTINGS_SCHEMA).map(([key, entry]) => [
      variableOf(key as SettingName),
      key,
      String(entry.default),
      entry.doc,
    ]);
    expect(rows).toEqual(expected);
  });
});

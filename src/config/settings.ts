import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createSecureContext } from 'node:tls';
import type { YAMLError } from 'yaml';
import { suggestion } from '#board';
import { RanklogError } from '#errors';
import { parseRedisUrl, withoutPassword } from '#redis-url';
import {
  SETTINGS_SCHEMA,
  variableOf,
  type Setting,
  type SettingName,
  type Settings,
} from './settings-schema.js';

export type { Settings };

/**
 * Settings that cannot be used. A problem of a value names its source, the value (unless it is
 * secret) and what is allowed.
 */
export class SettingsError extends RanklogError {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are not settings: RANKLOG_CONFIG, and variables of our scripts and tests. */
const OTHER_VARIABLES = /^RANKLOG_(CONFIG$|SERVICES_|TEST_)/;

const NAMES = Object.keys(SETTINGS_SCHEMA) as SettingName[];
const SECRETS = NAMES.filter((name) => SETTINGS_SCHEMA[name].isSecret).map(variableOf);

/** Where settings come from: the environment first, then the config file, then the defaults. */
interface Sources {
  readonly env: Environment;
  readonly file: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Reads the settings from the environment and from the config file (RANKLOG_CONFIG); the
 * environment wins.
 * @throws SettingsError with all problems at once; if the config file can't be read, with this
 * problem alone
 */
export function loadSettings(environment: Environment = process.env): {
  settings: Settings;
  current: ReturnType<typeof effective>[];
} {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const file = env['RANKLOG_CONFIG'] ?? '';
  const sources: Sources = { env, file, content: file === '' ? {} : readConfigFile(file) };

  const problems = [...readSecretFiles(env), ...unknownVariables(env), ...unknownKeys(sources)];
  const readings = NAMES.map((name) => read(name, sources));
  problems.push(...readings.flatMap(({ problem }) => problem ?? []));

  const values = Object.fromEntries(readings.map(({ name, value }) => [name, value]));
  const settings = Object.freeze(values) as unknown as Settings;

  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return { settings, current: readings.map(effective) };
}

function readConfigFile(file: string): Record<string, unknown> {
  try {
    const yaml = createRequire(import.meta.url)('yaml') as typeof import('yaml');
    const content: unknown = yaml.parse(readFileSync(file, 'utf8'), { logLevel: 'error' });
    if (content === null) return {};
    if (typeof content === 'object' && !Array.isArray(content))
      return content as Record<string, unknown>;
  } catch (error) {
    // Without the message of the error: it may contain a secret value.
    const { code = 'BAD_ALIAS', linePos } = error as NodeJS.ErrnoException & Partial<YAMLError>;
    const place = linePos === undefined ? '' : ` in line ${linePos[0].line}`;
    throw new SettingsError([`cannot read the config file ${file}: ${code}${place}`]);
  }
  throw new SettingsError([`the config file ${file} is not a list of "setting: value" lines`]);
}

/**
 * Sets each secret NAME to the content of the file that NAME_FILE names, without the newline at its
 * end. Yields problems.
 */
function* readSecretFiles(env: Record<string, string | undefined>) {
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) yield `${name}_FILE: ${name} is set too; leave out one of them`;
    try {
      env[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch {
      yield `${name}_FILE: "${file}" can't be read; name a file that holds the value of ${name}`;
    }
  }
}

function unknownVariables(env: Environment): string[] {
  const known = [...NAMES.map(variableOf), ...SECRETS.map((name) => `${name}_FILE`)];
  return Object.keys(env)
    .filter((name) => name.startsWith('RANKLOG_') && !OTHER_VARIABLES.test(name))
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is not a setting${suggestion(name, known)}`);
}

function unknownKeys({ content, file }: Sources): string[] {
  return Object.keys(content)
    .filter((key) => !(key in SETTINGS_SCHEMA))
    .map((key) => `${file}: "${key}" is not a setting${suggestion(key, NAMES)}`);
}

/** The value of a setting as it is given; `place` names it in an error. */
function findGiven(name: SettingName, { env, file, content }: Sources) {
  const variable = variableOf(name);
  const given: unknown = env[variable];
  if (given !== undefined) return { given, origin: 'environment', place: variable };
  if (name in content) return { given: content[name], origin: file, place: `${file}: ${name}` };
  return { given: SETTINGS_SCHEMA[name].default, origin: 'default', place: name };
}

/** A setting with its checked value, or with the problem that it has. */
function read(name: SettingName, sources: Sources) {
  const setting: Setting<unknown> = SETTINGS_SCHEMA[name];
  const { given, origin, place } = findGiven(name, sources);

  const value = setting.format.parse(given);
  const shown = setting.isSecret ? 'the value' : JSON.stringify(given);
  const problem = `${place}: ${shown} is not allowed; use ${setting.format.allowed}`;
  return { name, setting, value, origin, problem: value === undefined ? problem : undefined };
}

/** Settings that can't be used without another one. */
function* contradictions(settings: Settings) {
  const { kafkaSaslMechanism: mechanism } = settings;
  const hasKafkaFile = tlsFiles(settings, 'kafkaSsl').some((file) => file !== '');
  const hasRedisFile = tlsFiles(settings, 'redisSsl').some((file) => file !== '');

  if (mechanism !== '' && settings.kafkaSaslUsername === '')
    yield (
      `KAFKA_SASL_MECHANISM: "${mechanism}" needs a user; set KAFKA_SASL_USERNAME and ` +
      'KAFKA_SASL_PASSWORD, or leave it empty'
    );
  if (hasKafkaFile && !settings.kafkaSsl)
    yield 'KAFKA_SSL_CA and KAFKA_SSL_CERT need TLS; set KAFKA_SSL=true, or leave them empty';
  if (hasRedisFile && parseRedisUrl(settings.redisUrl)?.hasTls !== true)
    yield (
      'REDIS_SSL_CA and REDIS_SSL_CERT need TLS; begin REDIS_URL with rediss, or leave them ' +
      'empty'
    );
  for (const prefix of ['kafkaSsl', 'redisSsl'] as const) {
    try {
      createSecureContext(tlsOptions(settings, prefix));
    } catch (error) {
      const name = variableOf(`${prefix}Cert`);
      yield (
        `${name}: "${settings[`${prefix}Cert`]}" does not work with its key or CA ` +
        `(${(error as Error).message}); name PEM files that can be read, the key without a ` +
        'passphrase'
      );
    }
  }
  if (settings.verifyRebuild && settings.verifySchedule === '')
    yield (
      'RANKLOG_VERIFY_REBUILD: "true" needs a schedule; set RANKLOG_VERIFY_SCHEDULE, such as ' +
      '"0 4 * * *", or leave it out'
    );
}

type TlsPrefix = 'kafkaSsl' | 'redisSsl';

/** The names of the files with the CA, the certificate and the key. */
function tlsFiles(settings: Settings, prefix: TlsPrefix): string[] {
  return [settings[`${prefix}Ca`], settings[`${prefix}Cert`], settings[`${prefix}Key`]];
}

/** The content of the files for TLS. Without a key file, the certificate file holds the key. */
export function tlsOptions(settings: Settings, prefix: TlsPrefix) {
  const contents = tlsFiles(settings, prefix).map((file) => {
    return file === '' ? undefined : readFileSync(file);
  });
  const [ca, cert, key] = contents;
  return { ca, cert, key: key ?? cert };
}

/** A setting as `ranklog config` shows it: secrets are hidden. */
function effective({ name, setting, value, origin }: ReturnType<typeof read>) {
  const { doc, isSecret } = setting;
  const text = Array.isArray(value) ? value.join(',') : String(value);
  const secret = name === 'redisUrl' ? withoutPassword(text) : text.replace(/.+/s, '***');
  return { name, env: variableOf(name), doc, origin, value: isSecret ? secret : text };
}

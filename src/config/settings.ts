import { readFileSync } from 'node:fs';
import convict, { type Config } from 'convict';
import { parse as parseYaml } from 'yaml';
import { suggestion } from '#board';
import { addFormats } from './settings-formats.js';
import { SETTINGS_SCHEMA } from './settings-schema.js';

addFormats();

/** What is in force, checked. Durations in ms. */
export interface Settings {
  readonly boards: string;
  readonly topicPrefix: string;
  readonly group: string;
  readonly redisPrefix: string;
  readonly shards: number;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly startTimeout: number;
  readonly sessionTimeout: number;
  readonly shutdownTimeout: number;
  readonly stallTimeout: number;
  readonly rollbackGrace: number;
  /** Events per second; 0 for no bound. */
  readonly backgroundRate: number;
  readonly httpHost: string;
  readonly httpPort: number;
  /** Empty for never. */
  readonly verifySchedule: string;
  readonly verifyTimeZone: string;
  readonly verifyRebuild: boolean;
  readonly allowShortHistory: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly logFormat: 'auto' | 'pretty' | 'json';
  readonly kafkaBrokers: readonly string[];
  readonly kafkaSsl: boolean;
  readonly kafkaSaslMechanism: '' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly kafkaSaslUsername: string;
  readonly kafkaSaslPassword: string;
  readonly redisUrl: string;
}

export type SettingName = keyof typeof SETTINGS_SCHEMA;

/** A setting as `ranklog config` shows it: secrets hidden. */
export interface EffectiveSetting {
  readonly name: SettingName;
  readonly env: string;
  readonly value: string;
  readonly origin: string;
  readonly doc: string;
}

/** Settings that can't be used; `problems` names each: the setting, the bad value, what is allowed, where it came from. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that begin like ours and are meant for the scripts and tests of the project. */
const OTHER_VARIABLES = /^RANKLOG_(CONFIG$|SERVICES_|TEST_)/;

/** Where settings come from: the environment first, then the config file, then the defaults. */
interface Sources {
  readonly env: Environment;
  readonly file: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * The settings of the environment and of the config file (RANKLOG_CONFIG); the environment wins.
 * @throws SettingsError with all problems at once.
 */
export function loadSettings(environment: Environment = process.env): {
  settings: Settings;
  current: EffectiveSetting[];
} {
  const env = withoutEmpty(environment);
  const file = env['RANKLOG_CONFIG'] ?? '';
  const sources: Sources = { env, file, content: file === '' ? {} : readConfigFile(file) };
  const config = convict(SETTINGS_SCHEMA as unknown as convict.Schema<Settings>, { env, args: [] });
  config.load(knownKeys(sources.content));
  const problems = [...unknownVariables(env), ...unknownKeys(sources), ...invalid(config, sources)];
  if (problems.length > 0) throw new SettingsError(problems);
  return {
    settings: Object.freeze(config.getProperties()),
    current: NAMES.map((name) => current(config, name, sources)),
  };
}

const NAMES = Object.keys(SETTINGS_SCHEMA) as SettingName[];

function withoutEmpty(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

function readConfigFile(file: string): Record<string, unknown> {
  try {
    const content: unknown = parseYaml(readFileSync(file, 'utf8'));
    if (content === null) return {};
    if (typeof content === 'object' && !Array.isArray(content))
      return content as Record<string, unknown>;
  } catch (error) {
    throw new SettingsError([
      `the config file ${file} can't be used: ${(error as Error).message.split('\n')[0] ?? ''}`,
    ]);
  }
  throw new SettingsError([`the config file ${file} is not a list of "setting: value" lines`]);
}

function unknownVariables(env: Environment): string[] {
  const known = NAMES.map((name) => SETTINGS_SCHEMA[name].env);
  return Object.keys(env)
    .filter(
      (name) =>
        name.startsWith('RANKLOG_') &&
        !OTHER_VARIABLES.test(name) &&
        !(known as string[]).includes(name),
    )
    .map((name) => `${name} is no setting${suggestion(name, known)}`);
}

function knownKeys(content: Sources['content']): object {
  return Object.fromEntries(Object.entries(content).filter(([key]) => key in SETTINGS_SCHEMA));
}

function unknownKeys({ content, file }: Sources): string[] {
  return Object.keys(content)
    .filter((key) => !(key in SETTINGS_SCHEMA))
    .map((key) => `${file}: "${key}" is no setting${suggestion(key, NAMES)}`);
}

function invalid(config: Config<Settings>, sources: Sources): string[] {
  return NAMES.flatMap((name) => {
    const reason = refusal(name, config.get(name));
    if (reason === undefined) return [];
    const given = sources.env[SETTINGS_SCHEMA[name].env] ?? sources.content[name];
    const value = 'sensitive' in SETTINGS_SCHEMA[name] ? 'the value' : JSON.stringify(given);
    return [`${place(name, sources)}: ${value} is not allowed; use ${reason}`];
  });
}

/** What is allowed, when the value is not: convict's own words name several settings in one text. */
function refusal(name: SettingName, value: unknown): string | undefined {
  const only = convict(
    { value: { ...SETTINGS_SCHEMA[name], env: undefined, default: null, nullable: true } },
    { env: {}, args: [] },
  );
  only.set('value' as never, value as never);
  try {
    only.validate();
    return undefined;
  } catch (error) {
    return (error as Error).message
      .replace(/^value: /, '')
      .replace('must be one of the possible values: ', 'one of ')
      .replace(/: value was .*$/s, '');
  }
}

function current(config: Config<Settings>, name: SettingName, sources: Sources): EffectiveSetting {
  const { env, doc } = SETTINGS_SCHEMA[name];
  return { name, env, doc, value: shownValue(config, name), origin: origin(name, sources) };
}

function shownValue(config: Config<Settings>, name: SettingName): string {
  const value = config.get(name);
  if (name === 'redisUrl') return String(value).replace(/\/\/[^@/]*@/, '//***@');
  if ('sensitive' in SETTINGS_SCHEMA[name]) return value === '' ? '' : '***';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function origin(name: SettingName, { env, file, content }: Sources): string {
  if (env[SETTINGS_SCHEMA[name].env] !== undefined) return 'environment';
  return name in content ? file : 'default';
}

function place(name: SettingName, sources: Sources): string {
  const from = origin(name, sources);
  return from === 'environment' ? SETTINGS_SCHEMA[name].env : `${from}: ${name}`;
}

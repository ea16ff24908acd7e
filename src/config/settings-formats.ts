import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import ms from 'ms';
import { parseRedisUrl, REDIS_URL_FORMS } from '#redis-url';

export interface Format<T> {
  /** Completes "use ..." in the error for a bad value. */
  readonly allowed: string;
  /**
   * Checks and converts a text from the environment or a value from the config file. Returns
   * undefined for a value that is not allowed.
   */
  readonly parse: (given: unknown) => T | undefined;
}

function textWhere(allowed: string, accepts: (text: string) => boolean): Format<string> {
  return {
    allowed,
    parse: (given) => (typeof given === 'string' && accepts(given) ? given : undefined),
  };
}

function integerWhere(allowed: string, accepts: (value: number) => boolean): Format<number> {
  return {
    allowed,
    parse: (given) => {
      const isDigits = typeof given === 'string' && /^-?\d+$/.test(given);
      const value = isDigits ? Number(given) : given;
      if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
      return accepts(value) ? value : undefined;
    },
  };
}

function between(min: number, max: number, allowed: string): Format<number> {
  return integerWhere(allowed, (value) => value >= min && value <= max);
}

function oneOf<const T extends string>(...values: T[]): Format<T> {
  return {
    allowed: `one of ${JSON.stringify(values)}`,
    parse: (given) => values.find((value) => value === given),
  };
}

export const logLevel = oneOf('debug', 'info', 'warn', 'error', 'silent');
export const logFormat = oneOf('auto', 'pretty', 'json');
export const saslMechanism = oneOf('', 'plain', 'scram-sha-256', 'scram-sha-512');
export const anyText = textWhere('a text', () => true);
export const text = textWhere('a text that is not empty', (value) => value.trim() !== '');
export const kafkaName = textWhere('up to 200 letters, digits, . _ or -', (value) =>
  /^[A-Za-z0-9._-]{1,200}$/.test(value),
);
export const kafkaNameOrEmpty: Format<string> = {
  ...kafkaName,
  parse: (given) => (given === '' ? '' : kafkaName.parse(given)),
};
export const redisUrl = textWhere(REDIS_URL_FORMS, (value) => parseRedisUrl(value) !== undefined);
export const file = textWhere('the path of a file', (path) => path === '' || existsSync(path));
export const cron = textWhere(
  'a cron expression that matches some time, such as "0 4 * * *" (minute, hour, day, month, ' +
    'day of the week; seconds may come first)',
  (value) => value === '' || hasNextTime(value, 'UTC'),
);
export const timeZone = textWhere(
  'an IANA time zone such as UTC or Europe/Berlin',
  (value) => value === 'UTC' || hasNextTime('* * * * *', value),
);

export const count = between(1, 100_000, 'a whole number from 1 to 100000');
/** The continuity times of all shards must fit into the metadata of a committed offset. */
export const MOST_SHARDS = 256;
export const shards = between(1, MOST_SHARDS, `a whole number from 1 to ${MOST_SHARDS}`);
export const rate = between(0, 10_000_000, 'a whole number from 0 to 10000000');
export const port = between(0, 65_535, 'a port from 1 to 65535, or 0 for any free one');
export const replicas = integerWhere(
  "-1 (the broker's default) or a whole number from 1",
  (value) => value === -1 || value >= 1,
);

export const flag: Format<boolean> = {
  allowed: 'true or false',
  parse: (given) => {
    if (given === true || given === 'true') return true;
    if (given === false || given === 'false') return false;
    return undefined;
  },
};

/** In ms. A number without a unit is refused. */
export const duration: Format<number> = {
  allowed: 'a duration such as 500ms, 30s or 5m, up to 1d',
  parse: (given) => {
    const isDuration = typeof given === 'string' && /[a-z]$/i.test(given);
    const value = isDuration ? ms(given as ms.StringValue) : NaN;
    return value > 0 && value <= 86_400_000 ? value : undefined;
  },
};

/** In ms. */
export const durationOrZero: Format<number> = {
  allowed: `${duration.allowed}, or 0`,
  parse: (given) => (given === 0 || given === '0' ? 0 : duration.parse(given)),
};

/** Items separated by commas, or a list of the config file. */
function listOf(allowed: string, item: RegExp): Format<readonly string[]> {
  return {
    allowed,
    parse: (given) => {
      const items = String(given).split(',');
      const trimmed = items.map((text) => text.trim());
      return trimmed.every((text) => item.test(text)) ? trimmed : undefined;
    },
  };
}

export const brokers = listOf('host:port, several separated by commas', /^[^\s:,]+:\d{1,5}$/);

const someOrigins = listOf(
  'origins such as https://game.example, several separated by commas, or *',
  /^(\*|https?:\/\/[^\s/]+)$/,
);
/** Origins of web pages; `*` stands for all, and an empty text for none. */
export const origins: typeof someOrigins = {
  ...someOrigins,
  parse: (given) => (given === '' ? [] : someOrigins.parse(given)),
};

/** Loads the package `cron` only when a schedule or a time zone is set, as that takes time. */
function hasNextTime(expression: string, zone: string): boolean {
  const { CronTime } = createRequire(import.meta.url)('cron') as typeof import('cron');
  try {
    new CronTime(expression, zone).sendAt();
    return true;
  } catch {
    return false;
  }
}

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

/** Makes them known to convict. */
export function addFormats(): void {
  for (const format of FORMATS) convict.addFormat(format);
}

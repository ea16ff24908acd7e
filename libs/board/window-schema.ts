import { CALENDAR_WINDOWS } from './definition.js';
import { duration } from './schema-parts.js';

const keep = {
  ...duration,
  description:
    "How long after its end a view is kept, by the board's event clock. Without it: for ever.",
} as const;

const windowName = {
  type: 'string',
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$',
  errorMessage:
    'a letter, digit or _, then up to 63 letters, digits, _ . or -; in quotes when it is a number',
} as const;

export const time = (description: string) =>
  ({
    type: 'string',
    description: `${description} A date, or a date and time, by the clock of timeZone; or an RFC 3339 time with a zone.`,
    errorMessage: 'a time such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z',
    examples: ['2026-03-01', '2026-03-01T18:00', '2026-03-01T18:00:00Z'],
  }) as const;

/** Each of the forms of an object begins its `required` with the field that tells it from the others. */
export const windowSchema = {
  errorMessage:
    'all, day, week, month, year, {window: day, keep: 30d}, {season: NAME, from: TIME, to: TIME} or {interval: NAME, cron: EXPRESSION, start: TIME}',
  anyOf: [
    {
      enum: ['all', ...CALENDAR_WINDOWS],
      description: "All of time, or the days, weeks, months or years of the time zone's calendar.",
      errorMessage:
        'all, day, week, month or year; or {season: NAME, from: TIME, to: TIME}, {interval: NAME, cron: EXPRESSION, start: TIME}',
    },
    {
      type: 'object',
      description: 'A window of the calendar that expires.',
      additionalProperties: false,
      required: ['window'],
      properties: {
        window: {
          enum: CALENDAR_WINDOWS,
          description: 'The days, weeks, months or years of the calendar.',
          errorMessage:
            'day, week, month or year; "all" never ends, so it is written alone, without keep',
        },
        keep,
      },
    },
    {
      type: 'object',
      description: 'One span of time with a name; events outside it move the other windows only.',
      additionalProperties: false,
      required: ['season', 'from', 'to'],
      properties: {
        season: { ...windowName, description: 'Its name.' },
        from: time('The first moment of the season.'),
        to: time('The first moment after the season.'),
        keep,
      },
    },
    {
      type: 'object',
      description: 'Spans from each time of a cron expression to the next.',
      additionalProperties: false,
      required: ['interval', 'cron', 'start'],
      properties: {
        interval: { ...windowName, description: 'Its name.' },
        cron: {
          type: 'string',
          description:
            'When each span begins, by the clock of timeZone: minute, hour, day of the month, month, weekday; or six fields, with seconds in front.',
          errorMessage: "a cron expression such as '0 18 * * 5'",
          examples: ['0 18 * * 5', '0 */6 * * *'],
        },
        start: time('The first span begins at the first time of the expression from here on.'),
        keep,
      },
    },
  ],
} as const;

import { LATE, ORDERS, RANK_CHANGES, RANKS, TIES, UPDATES } from './definition.js';
import { duration, name } from './schema-parts.js';
import { time, windowSchema } from './window-schema.js';

const bound = (which: string) =>
  ({
    type: ['string', 'number'],
    description: `The ${which} value that one event may bring to the column, after "from". An event beyond it is a dead letter OUT_OF_BOUNDS. Read digit by digit, never as a float.`,
    errorMessage: "a decimal such as -0.5 or '12.50', without an exponent",
    examples: ['-100', '12.50'],
  }) as const;

/** Digits that every double keeps. */
const LARGEST_WEIGHT = 999_999_999_999_999;

const weights = {
  type: 'object',
  minProperties: 1,
  maxProperties: 64,
  propertyNames: name,
  additionalProperties: {
    type: 'integer',
    minimum: -LARGEST_WEIGHT,
    maximum: LARGEST_WEIGHT,
    not: { const: 0 },
    errorMessage: 'a whole number of up to 15 digits, not 0',
  },
  description:
    'For update: sum. The column gains the weighted sum of these deltas: a whole number, also a negative one, for each.',
  errorMessage: '1 to 64 names, each with its weight, such as {clicks: 1, shares: 5}',
  examples: [{ clicks: 1, shares: 5 }],
} as const;

const columnSchema = {
  type: 'object',
  description: 'One number that is compared.',
  errorMessage: 'fields of a column, such as {name: points}',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { ...name, description: 'Unique in the board. Events name it in "deltas".' },
    update: {
      enum: UPDATES,
      default: 'sum',
      description:
        'What becomes of the values of events: added up, the best one kept, or the latest one by occurredAt.',
    },
    order: {
      enum: ORDERS,
      default: 'desc',
      description: 'Who is in front: desc those with large values, asc those with small ones.',
    },
    decimals: {
      type: 'integer',
      minimum: 0,
      maximum: 15,
      default: 0,
      description: 'Digits after the point. Values with more are dead letters, never rounded.',
      errorMessage: 'a whole number from 0 to 15',
    },
    min: bound('smallest'),
    max: bound('largest'),
    from: weights,
  },
} as const;

const dimension = {
  type: 'array',
  maxItems: 8,
  uniqueItems: true,
  items: name,
  description:
    'Names of attributes whose values split the board; [] is the overall ranking of all players.',
  errorMessage: 'a list of up to 8 attribute names, such as [league, season]',
} as const;

const dimensions = {
  type: 'array',
  minItems: 1,
  maxItems: 32,
  uniqueItems: true,
  items: dimension,
  errorMessage: 'a list of 1 to 32 lists of attribute names, such as [[], [league, season]]',
  examples: [[[], ['league', 'season']]],
} as const;

const count = (description: string) =>
  ({
    type: 'integer',
    minimum: 0,
    maximum: 100,
    default: 0,
    description,
    errorMessage: 'a whole number from 0 to 100',
  }) as const;

const publishSchema = {
  type: 'object',
  description: 'What of the board is published to Kafka.',
  errorMessage: 'fields such as {rankChanges: moved, leaders: 10}',
  additionalProperties: false,
  default: {},
  properties: {
    rankChanges: {
      enum: RANK_CHANGES,
      default: 'every',
      description:
        'Which views a rank change tells of: every one in which the player changed, only those in which a rank moved, or none.',
    },
    ranks: {
      enum: [['ordinal'], RANKS],
      default: ['ordinal'],
      description:
        'The ranks in a rank change: the position, and with competition also the rank over equal columns, which costs two more look-ups an event.',
      errorMessage: '[ordinal] or [ordinal, competition]',
    },
    windows: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', errorMessage: 'the name of a window of the board' },
      description:
        'The windows whose views are published: all, day, ..., season:NAME, interval:NAME. Without it: each.',
      errorMessage: 'a list of windows of the board, such as [all, week]',
      examples: [['all', 'week']],
    },
    dimensions: {
      ...dimensions,
      description: 'The combinations whose views are published. Without it: each.',
    },
    overtook: count('How many of the players who were passed a rank change names.'),
    leaders: count('How many places from the top leader changes tell of; 0: none are published.'),
  },
} as const;

const boardSchema = {
  type: 'object',
  description: 'A board: what is compared, how it is split, what is published.',
  errorMessage: 'fields of a board, such as {columns: [{name: points}]}',
  additionalProperties: false,
  required: ['columns'],
  properties: {
    columns: {
      type: 'array',
      minItems: 1,
      maxItems: 8,
      items: columnSchema,
      description: 'The numbers that are compared, in this order.',
      errorMessage: 'a list of 1 to 8 columns',
      examples: [[{ name: 'points', update: 'sum', order: 'desc' }]],
    },
    ties: {
      enum: TIES,
      default: 'earliest',
      description:
        'Which reach time is in front when all columns are equal: the earliest, the latest, or none, so that the player id alone decides.',
    },
    timeZone: {
      type: 'string',
      default: 'UTC',
      description: 'The IANA time zone whose clock gives days, weeks, months, years and intervals.',
      errorMessage: 'an IANA time zone such as Europe/Paris',
      examples: ['Europe/Paris', 'America/New_York', 'Asia/Tokyo'],
    },
    windows: {
      type: 'array',
      minItems: 1,
      maxItems: 64,
      items: windowSchema,
      default: ['all'],
      description: 'Spans of event time that are ranked separately.',
      errorMessage: 'a list of windows, such as [all, week]',
      examples: [['all', 'week', { window: 'day', keep: '30d' }]],
    },
    late: {
      enum: LATE,
      default: 'deadLetter',
      description:
        'What becomes of an event all of whose views have expired: a dead letter WINDOW_EXPIRED, or it is only counted.',
    },
    dimensions: {
      ...dimensions,
      default: [[]],
      description: 'The combinations of attributes that the board is split by.',
    },
    maxViews: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      description:
        'Most views that may exist at a time; an event that would make more is a dead letter TOO_MANY_VIEWS.',
      errorMessage: 'a whole number from 1 to 1000000',
    },
    maxAhead: {
      ...duration,
      default: '1h',
      description:
        "How far occurredAt may lie after the record's own timestamp; beyond it an event is a dead letter TOO_FAR_AHEAD.",
    },
    notAfter: time(
      'The latest time that an event may have; a later one is a dead letter TOO_FAR_AHEAD. Without it: any.',
    ),
    deduplicate: {
      ...duration,
      description:
        'Drops an event when one of the same player with the same eventId came before it in its partition, within this span of event time.',
    },
    publish: publishSchema,
  },
} as const;

/**
 * JSON Schema (draft 7) of a boards file: what may stand in it, with every default. The parser validates with it, and
 * editors complete by it. `errorMessage` completes "use ...": it is what an error says is allowed; some editors show it.
 */
export const BOARDS_FILE_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Boards of ranklog',
  type: 'object',
  additionalProperties: false,
  required: ['boards'],
  description: 'The boards of ranklog: see docs/reference/boards-file.md.',
  errorMessage: 'the field boards',
  properties: {
    boards: {
      type: 'object',
      minProperties: 1,
      description: 'The boards by their names, which score events give in "board".',
      errorMessage: 'at least one board by its name',
      propertyNames: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
        errorMessage: 'a letter or digit, then up to 127 letters, digits, _ . or -',
      },
      additionalProperties: boardSchema,
    },
  },
} as const;

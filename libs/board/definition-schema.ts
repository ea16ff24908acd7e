import { ORDERS, TIES, UPDATES, WINDOWS } from './definition.js';

const name = (what: string, pattern: string) => ({ type: 'string', pattern, description: what });

const ATTRIBUTE_NAME = '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$';

const columnSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: name('a letter or _, then up to 63 letters, digits, _ . or -', ATTRIBUTE_NAME),
    update: { enum: UPDATES, default: 'sum' },
    order: { enum: ORDERS, default: 'desc' },
    decimals: { type: 'integer', minimum: 0, maximum: 15, default: 0 },
  },
} as const;

const dimensionSchema = {
  type: 'array',
  maxItems: 8,
  uniqueItems: true,
  items: name('a letter or _, then up to 63 letters, digits, _ . or -', ATTRIBUTE_NAME),
} as const;

const boardSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['columns'],
  properties: {
    columns: { type: 'array', minItems: 1, maxItems: 8, items: columnSchema },
    ties: { enum: TIES, default: 'earliest' },
    windows: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: WINDOWS },
      default: ['all'],
    },
    dimensions: {
      type: 'array',
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
      items: dimensionSchema,
      default: [[]],
    },
    maxAhead: {
      type: 'string',
      pattern: '^(0|[1-9]\\d{0,8}) ?(ms|s|m|h|d)$',
      description: 'a duration such as 30s, 10m, 1h or 1d',
      default: '1h',
    },
  },
} as const;

/** JSON Schema of a boards file: what may stand in it, with every default. */
export const BOARDS_FILE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['boards'],
  properties: {
    boards: {
      type: 'object',
      minProperties: 1,
      propertyNames: name(
        'a letter or digit, then up to 127 letters, digits, _ . or -',
        '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
      ),
      additionalProperties: boardSchema,
    },
  },
} as const;

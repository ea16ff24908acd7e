import { CALENDAR_WINDOWS, ORDERS, TIES, UPDATES } from './definition.js';

const WINDOWS = ['all', ...CALENDAR_WINDOWS];

/** Every `description` completes "use ...": it is what an error says is allowed. */
const attributeName = {
  type: 'string',
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$',
  description: 'a letter or _, then up to 63 letters, digits, _ . or -',
} as const;

const columnSchema = {
  type: 'object',
  description: 'fields of a column, such as {name: points}',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: attributeName,
    update: { enum: UPDATES, default: 'sum' },
    order: { enum: ORDERS, default: 'desc' },
    decimals: {
      type: 'integer',
      minimum: 0,
      maximum: 15,
      default: 0,
      description: 'a whole number from 0 to 15',
    },
  },
} as const;

const dimensionSchema = {
  type: 'array',
  maxItems: 8,
  uniqueItems: true,
  items: attributeName,
  description: 'a list of up to 8 attribute names, such as [league, season]',
} as const;

const boardSchema = {
  type: 'object',
  description: 'fields of a board, such as {columns: [{name: points}]}',
  additionalProperties: false,
  required: ['columns'],
  properties: {
    columns: {
      type: 'array',
      minItems: 1,
      maxItems: 8,
      items: columnSchema,
      description: 'a list of 1 to 8 columns',
    },
    ties: { enum: TIES, default: 'earliest' },
    windows: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: WINDOWS },
      default: ['all'],
      description: `a list of windows: ${WINDOWS.join(', ')}`,
    },
    dimensions: {
      type: 'array',
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
      items: dimensionSchema,
      default: [[]],
      description: 'a list of 1 to 32 lists of attribute names, such as [[], [league, season]]',
    },
    maxAhead: {
      type: 'string',
      pattern: '^(0|[1-9]\\d{0,7}) ?(ms|s|m|h|d)$',
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
  description: 'the field boards',
  properties: {
    boards: {
      type: 'object',
      minProperties: 1,
      description: 'at least one board by its name',
      propertyNames: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
        description: 'a letter or digit, then up to 127 letters, digits, _ . or -',
      },
      additionalProperties: boardSchema,
    },
  },
} as const;

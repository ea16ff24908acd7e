import { DECIMAL, isEventTime, MAX_DECIMAL_LENGTH } from '#board';
import { namedRule } from './checks.js';
import {
  isAttributes,
  isColumns,
  isDelta,
  isDeltas,
  isId,
  isStarts,
  MAX_ATTRIBUTE_BYTES,
  MAX_ATTRIBUTE_VALUES,
  MAX_DELTAS,
  MAX_ID_BYTES,
  MAX_NUMBER_DIGITS,
  PARTITION,
} from './values.js';

// JSON Schema can't count bytes or significant digits, so the schemas allow some values that are too long.
const text = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
});
const id = text(MAX_ID_BYTES);
const attribute = text(MAX_ATTRIBUTE_BYTES);
const attributes = { type: 'array', items: attribute, maxItems: MAX_ATTRIBUTE_VALUES };
const decimal = { type: 'string', maxLength: MAX_DECIMAL_LENGTH, pattern: DECIMAL.source };
const number = { anyOf: [decimal, { type: 'number' }] };
const byName = (values: object, names: object) => ({
  type: 'object',
  propertyNames: names,
  additionalProperties: values,
});

const NUMBER = `a decimal string such as "12" or "-0.5" (no exponent, no spaces), or a JSON number of at most ${MAX_NUMBER_DIGITS} significant digits; send larger numbers as a string`;

export const ID = namedRule(
  'Id',
  isId,
  `a string of 1 to ${MAX_ID_BYTES} bytes of UTF-8 without control characters or lone surrogates`,
  id,
);
export const DELTA = namedRule('Delta', isDelta, NUMBER, number);
export const DELTAS = namedRule(
  'Deltas',
  isDeltas,
  `an object with values for 1 to ${MAX_DELTAS} inputs, each ${NUMBER}`,
  { ...byName(number, id), minProperties: 1, maxProperties: MAX_DELTAS },
);
export const TIME = namedRule(
  'Time',
  isEventTime,
  'an RFC 3339 time with a zone, years 0001 to 9999, such as "2026-11-20T09:00:00.123Z"',
  { type: 'string', format: 'date-time' },
);
export const ATTRIBUTES = namedRule(
  'Attributes',
  isAttributes,
  `an object of strings, or of lists of up to ${MAX_ATTRIBUTE_VALUES} strings; each name has 1 to ${MAX_ID_BYTES} bytes, each string 1 to ${MAX_ATTRIBUTE_BYTES}, and neither has control characters or lone surrogates`,
  byName({ anyOf: [attribute, attributes] }, id),
);
export const COLUMNS = namedRule('Columns', isColumns, 'an object of decimal strings by column', {
  type: 'object',
  additionalProperties: decimal,
});
export const STARTS = namedRule(
  'Starts',
  isStarts,
  'an object of offsets by partition, such as {"0":12}',
  byName({ type: 'integer', minimum: 0 }, { pattern: PARTITION.source }),
);

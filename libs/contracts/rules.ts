import { isEventTime } from '#board';
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
} from './values.js';

/** A predicate for class-validator and for the compiled validators, and what it allows. */
interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly allows: string;
}

const NUMBER = `a decimal string such as "12" or "-0.5" (no exponent, no spaces), or a JSON number of at most ${MAX_NUMBER_DIGITS} significant digits; send larger numbers as a string`;

/** All rules, by the name of their class-validator constraint. */
export const RULES = {
  ranklogId: {
    holds: isId,
    allows: `a string of 1 to ${MAX_ID_BYTES} bytes of UTF-8 without control characters or lone surrogates`,
  },
  ranklogDelta: { holds: isDelta, allows: NUMBER },
  ranklogDeltas: {
    holds: isDeltas,
    allows: `an object with values for 1 to ${MAX_DELTAS} inputs, each ${NUMBER}`,
  },
  ranklogTime: {
    holds: isEventTime,
    allows: 'an RFC 3339 time with a zone, years 0001 to 9999, such as "2026-11-20T09:00:00.123Z"',
  },
  ranklogAttributes: {
    holds: isAttributes,
    allows: `an object of strings, or of lists of up to ${MAX_ATTRIBUTE_VALUES} strings; each name has 1 to ${MAX_ID_BYTES} bytes, each string 1 to ${MAX_ATTRIBUTE_BYTES}, and neither has control characters or lone surrogates`,
  },
  ranklogColumns: { holds: isColumns, allows: 'an object of decimal strings by column' },
  ranklogStarts: {
    holds: isStarts,
    allows: 'an object of offsets by partition, such as {"0":12}',
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

import { IsInt, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { isEventTime } from '#board';
import {
  isAttributes,
  isId,
  MOST_ATTRIBUTE_BYTES,
  MOST_ATTRIBUTE_VALUES,
  MOST_ID_BYTES,
} from './ids.js';
import {
  isColumns,
  isDelta,
  isDeltas,
  isStarts,
  MOST_DELTAS,
  MOST_NUMBER_DIGITS,
} from './numbers.js';

/** A rule of the contracts: one predicate for class-validator and for the compiled validators, and what it allows. */
interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly allows: string;
}

const NUMBER = `a decimal string such as "12" or "-0.5" (no exponent, no spaces), or a JSON number of at most ${MOST_NUMBER_DIGITS} significant digits; send larger ones as a string`;

/** All rules by name; the name is also that of the class-validator constraint. */
export const RULES = {
  ranklogId: {
    holds: isId,
    allows: `a string of 1 to ${MOST_ID_BYTES} bytes of UTF-8 without control characters or lone surrogates`,
  },
  ranklogDelta: { holds: isDelta, allows: NUMBER },
  ranklogDeltas: {
    holds: isDeltas,
    allows: `an object with values for 1 to ${MOST_DELTAS} columns, each ${NUMBER}`,
  },
  ranklogTime: {
    holds: isEventTime,
    allows: 'an RFC 3339 time with a zone, years 0001 to 9999, such as "2026-11-20T09:00:00.123Z"',
  },
  ranklogAttributes: {
    holds: isAttributes,
    allows: `an object of strings, or of lists of up to ${MOST_ATTRIBUTE_VALUES} strings: names as ids, strings of 1 to ${MOST_ATTRIBUTE_BYTES} bytes without control characters or lone surrogates`,
  },
  ranklogColumns: {
    holds: isColumns,
    allows: 'an object of decimal strings by column',
  },
  ranklogStarts: {
    holds: isStarts,
    allows: 'an object of offsets by partition, such as {"0":12}',
  },
} as const satisfies Record<string, Rule>;

const rule = (name: keyof typeof RULES) => (): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: RULES[name].holds,
      defaultMessage: (info) => `${info?.property ?? name} must be ${RULES[name].allows}`,
    },
  });

export const IsId = rule('ranklogId');
export const IsDelta = rule('ranklogDelta');
export const IsDeltas = rule('ranklogDeltas');
export const IsEventTime = rule('ranklogTime');
export const IsColumns = rule('ranklogColumns');
export const IsStarts = rule('ranklogStarts');
export const IsAttributes = rule('ranklogAttributes');

/** May be absent; null is a value like any other (class-validator's own IsOptional lets it pass). */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** A whole number that a double holds exactly, from `least` on. */
export const IsCount =
  (least: number): PropertyDecorator =>
  (target, property) => {
    Min(least)(target, property);
    Max(Number.MAX_SAFE_INTEGER)(target, property);
    // Last: in the compiled schema each of the three sets the type, and only this one sets integer.
    IsInt()(target, property);
  };

/** The name of a column, an input or an attribute. */
export const name = {
  type: 'string',
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$',
  errorMessage: 'a letter or _, then up to 63 letters, digits, _ . or -',
} as const;

/** A span of time; the most that it can be, added to the latest time that an event can have, is still an exact integer of ms. */
export const duration = {
  type: 'string',
  pattern: '^((0|[1-9]\\d{0,7}) ?(ms|s|m|h|d)|(0|[1-9]\\d{0,6}) ?w)$',
  errorMessage: 'a duration such as 30s, 10m, 1h, 7d or 4w',
  examples: ['30s', '10m', '24h', '7d', '4w'],
} as const;

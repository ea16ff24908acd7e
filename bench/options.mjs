// @ts-check

/**
 * The value of an option that is a whole number. @throws Error that names the option, the value and the bounds
 * @param {string} name @param {string} text @param {{ least: number, most: number }} bounds
 */
export function wholeNumber(name, text, { least, most }) {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} ${text}: use a whole number from ${least} to ${most}`);
}

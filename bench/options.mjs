// @ts-check
import { parseArgs } from 'node:util';

/**
 * The options of a benchmark. With --help, prints them and ends the process.
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} T
 * @param {string} name as in `npm run bench:NAME` @param {T} options
 */
export function readOptions(name, options) {
  if (process.argv.includes('--help')) {
    const flags = Object.entries(options).map(([flag, { type }]) => {
      return type === 'string' ? ` [--${flag} VALUE]` : ` [--${flag}]`;
    });
    console.log(`Usage: npm run bench:${name} --${flags.join('')}\nSee bench/README.md.`);
    process.exit();
  }
  return parseArgs({ options }).values;
}

/**
 * The value of an option that is a whole number.
 * @throws Error that names the option, the value and the bounds
 * @param {string} name @param {string} text @param {{ least: number, most: number }} bounds
 */
export function wholeNumber(name, text, { least, most }) {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} ${text}: use a whole number from ${least} to ${most}`);
}

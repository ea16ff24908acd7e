// @ts-check
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run demo [-- OPTIONS]

Sends 27 football seasons through Kafka into boards in Redis, and compares the tables with the official ones.

  --serve     replay the seasons on a page in the browser instead, until Ctrl-C
  --cluster   with a Redis Cluster of six nodes in place of one Redis
  --speed N   with --serve: N match days a second (default: 2; all 1,758 take 15 minutes)
`;

/**
 * The options of the demo. Prints the help, or what is wrong, and ends the process then.
 * @returns {{ serve: boolean, cluster: boolean, speed: number }} speed: match days a second
 */
export function demoOptions() {
  try {
    const { help, serve = false, cluster = false, speed } = parseArguments();
    if (help) end(0, HELP);
    if (speed !== undefined && !serve) throw new Error('--speed needs --serve');
    const number = Number(speed ?? 2);
    if (!(number > 0)) throw new Error(`--speed is "${speed}"; it must be a number above 0`);
    return { serve, cluster, speed: number };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return end(2, `demo: ${reason}; see npm run demo -- --help\n`);
  }
}

function parseArguments() {
  const flag = { type: /** @type {const} */ ('boolean') };
  const text = { type: /** @type {const} */ ('string') };
  return parseArgs({ options: { help: flag, serve: flag, cluster: flag, speed: text } }).values;
}

/** @param {0 | 2} code @param {string} words @returns {never} */
function end(code, words) {
  (code === 0 ? process.stdout : process.stderr).write(words);
  process.exit(code);
}

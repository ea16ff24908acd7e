// @ts-check
import { parseArgs } from 'node:util';
import {
  DEFAULT_RELEASE,
  KAFKA_RELEASES,
  REDIS_KINDS,
  SERVER_NAMES,
  ServersError,
  serverStatus,
  serverVariables,
  startServers,
  stopServers,
} from '#servers';
import { SERVERS } from './clone.mjs';
import { KAFKA_TOOLS, runKafkaTool } from './kafka-tool.mjs';

const HELP = `Usage: npm run services -- COMMAND [OPTIONS]

Kafka and Redis for tests, the demo and development.

Commands:
  up [kafka] [redis]      start the servers that do not run (default: both) and wait until they answer.
     [--kafka RELEASE]    RELEASE: ${KAFKA_RELEASES.join(' or ')} (default: the one that runs, else ${DEFAULT_RELEASE})
     [--cluster [N]]      Redis is a Redis Cluster of N nodes: 1 to 3 primaries, or 6 with a replica of each (default: 6)
     [--sentinel]         Redis is a primary with a replica and 3 sentinels
  down [--purge]          stop them; --purge removes their data too. Downloads stay
  status [--json]         how each is run, its address and pid, and whether it answers; exit code 0 only if all do
  env [--json]            KAFKA_BROKERS and REDIS_URL of the servers in use; of Redis, the kind that "up" started last
     [--cluster | --sentinel | --single]  this kind of Redis: several run beside each other
  kafka-tool TOOL [ARGS]  one of Kafka's own tools, told where Kafka is, e.g.
                          npm run -s services -- kafka-tool console-consumer --topic t --from-beginning
                          TOOL: ${KAFKA_TOOLS.join(', ')}

Which servers: those of KAFKA_BROKERS and REDIS_URL where these are set; else Docker where an engine answers;
else redis-server and Java from the system's packages and Kafka from its own jars. These keep data, logs, pid files and
downloads in .services/ (another folder: RANKLOG_SERVICES_DIR).
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

/**
 * @param {string[]} argv
 * @returns {Promise<number>} exit code
 */
export async function main(argv) {
  try {
    if (argv[0] === 'kafka-tool' && !['--help', undefined].includes(argv[1]))
      return await runKafkaTool(argv[1] ?? '', argv.slice(2));
    return await runCommand(argv);
  } catch (error) {
    sayError(error);
    return 1;
  }
}

/** @param {string[]} argv @returns {Promise<number>} exit code */
async function runCommand(argv) {
  const parsed = parse(argv);
  if (typeof parsed === 'string') return wrongUsage(parsed);
  const { values, positionals } = parsed;
  if (values.help) return print(HELP);
  const [command, ...rest] = positionals;
  const [kind, otherKind] = REDIS_KINDS.filter((name) => values[name] !== undefined);
  if (otherKind) return wrongUsage(`--${kind} and --${otherKind} exclude each other`);
  const servers = SERVER_NAMES.filter((name) => command === 'up' && rest.includes(name));
  if (servers.length < rest.length) return wrongUsage(`unexpected: ${rest.join(' ')}`);
  switch (command) {
    case 'up':
      await startServers(SERVERS, {
        release: values.kafka,
        servers: servers.length > 0 ? servers : SERVER_NAMES,
        redisKind: kind,
        clusterSize: values.cluster ? Number(values.cluster) : undefined,
      });
      return 0;
    case 'down':
      await stopServers(SERVERS, values);
      return 0;
    case 'status':
      return showStatus(values);
    case 'env':
      return showEnvironment({ ...values, kind });
    default:
      return wrongUsage(command ? `there is no command "${command}"` : 'a command is missing');
  }
}

/** The options and words of a command, or the problem with them as text. @param {string[]} args */
function parse(args) {
  const flag = { type: /** @type {const} */ ('boolean') };
  const text = { type: /** @type {const} */ ('string') };
  try {
    const kinds = { cluster: text, sentinel: flag, single: flag };
    const options = { help: flag, json: flag, purge: flag, kafka: text, ...kinds };
    return parseArgs({ args: withClusterSize(args), allowPositionals: true, options });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Gives `--cluster` an empty value unless a number follows. @param {string[]} args */
function withClusterSize(args) {
  return args.map((arg, index) =>
    arg === '--cluster' && !/^\d+$/.test(args[index + 1] ?? '') ? '--cluster=' : arg,
  );
}

/** @param {{ json?: boolean }} options @returns {Promise<number>} exit code */
async function showStatus({ json = false }) {
  const servers = await serverStatus(SERVERS);
  const byName = Object.fromEntries(servers.map(({ name, ...facts }) => [name, facts]));
  if (json) print(`${JSON.stringify(byName, null, 2)}\n`);
  else
    for (const { name, how, address, pid, answers } of servers)
      print(
        `${[name, how.padEnd(6), (address ?? '-').padEnd(24), pid === null ? '' : `pid ${pid} `].join(' ')}${answers ? 'answers' : 'does not answer'}\n`,
      );
  return servers.every(({ answers }) => answers) ? 0 : 1;
}

/**
 * @param {{ json?: boolean, kind: import('#servers').RedisKind | undefined }} options
 * @returns {number} exit code
 */
function showEnvironment({ json = false, kind }) {
  const variables = serverVariables(SERVERS, kind);
  if (!variables.KAFKA_BROKERS || !variables.REDIS_URL) {
    SERVERS.say('the servers are down; start them with: npm run services -- up');
    return 1;
  }
  if (json) return print(`${JSON.stringify(variables)}\n`);
  return print(
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
}

/** @param {string} text @returns {number} exit code 0 */
function print(text) {
  process.stdout.write(text);
  return 0;
}

/**
 * Prints an error; with a stack only if it is a bug.
 * @param {unknown} error
 */
function sayError(error) {
  if (error instanceof ServersError) SERVERS.say(error.message);
  else SERVERS.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** @param {string} words @returns {number} exit code */
function wrongUsage(words) {
  SERVERS.say(`${words}; see npm run services -- --help`);
  return 2;
}

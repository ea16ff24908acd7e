// @ts-check
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { composeTool, dockerAnswers, startCompose, stopCompose } from './docker.mjs';
import { DEFAULT_RELEASE, KAFKA_RELEASES, kafkaClasspath, startKafka } from './kafka.mjs';
import { pingKafka } from './kafka-probe.mjs';
import { stopServer } from './processes.mjs';
import { pingRedis, startRedis } from './redis.mjs';
import { say, ServiceError } from './say.mjs';
import { isOurs, purgeData, readState, writeState } from './state.mjs';

const HELP = `Usage: npm run services -- COMMAND [OPTIONS]

Kafka and Redis for tests, the demo and development.

Commands:
  up                 start both, unless they run; ready only when both answer
  down [--purge]     stop them; --purge removes their data (downloads stay)
  status [--json]    how each is run, where, and whether it answers; exit code 0 if both do
  env [--json]       KAFKA_BROKERS and REDIS_URL of the running servers
  kafka-tool TOOL .. one of Kafka's own tools, e.g. kafka-tool console-consumer --topic x --from-beginning

Options:
  --kafka RELEASE    ${KAFKA_RELEASES.sort().reverse().join(' or ')} (default ${DEFAULT_RELEASE})

Which servers: those of KAFKA_BROKERS and REDIS_URL where they are set; else docker compose where an engine answers;
else redis-server from the system's packages and Kafka from its own jars, under .services/ (RANKLOG_SERVICES_DIR).
`;

/** The classes of Kafka's tools, by the name of their script. */
const TOOLS = {
  'console-consumer': 'org.apache.kafka.tools.consumer.ConsoleConsumer',
  'console-producer': 'org.apache.kafka.tools.ConsoleProducer',
  'consumer-groups': 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
  topics: 'org.apache.kafka.tools.TopicCommand',
  configs: 'kafka.admin.ConfigCommand',
};

/** @returns {{ kafka?: string, redis?: string }} addresses, as far as servers are known */
export function addresses() {
  const { mode, kafka, redis, docker } = readState();
  const kafkaPort = mode === 'docker' ? docker?.kafka : isOurs(kafka) ? kafka?.port : undefined;
  const redisPort = mode === 'docker' ? docker?.redis : isOurs(redis) ? redis?.port : undefined;
  const brokers = process.env['KAFKA_BROKERS'] ?? (kafkaPort && `127.0.0.1:${kafkaPort}`);
  const url = process.env['REDIS_URL'] ?? (redisPort && `redis://127.0.0.1:${redisPort}`);
  return { ...(brokers ? { kafka: brokers } : {}), ...(url ? { redis: url } : {}) };
}

/** @param {{ kafka?: string }} options */
export async function up({ kafka: release = DEFAULT_RELEASE }) {
  if (!KAFKA_RELEASES.includes(release))
    throw new ServiceError(`--kafka ${release} is not known; use ${KAFKA_RELEASES.join(' or ')}`);
  const { KAFKA_BROKERS: brokers, REDIS_URL: url } = process.env;
  if (brokers) await given('KAFKA_BROKERS', brokers, pingKafka);
  if (url) await given('REDIS_URL', url, pingRedis);
  if (brokers && url) return;
  if (readState().mode !== 'native' && dockerAnswers()) return startCompose(release);
  await Promise.all([url ? undefined : startRedis(), brokers ? undefined : startKafka(release)]);
}

/** @param {string} name @param {string} address @param {(address: string) => Promise<void>} ping */
async function given(name, address, ping) {
  try {
    await ping(address);
  } catch (error) {
    throw new ServiceError(
      `${name} is set to ${address.replace(/\/\/[^@/]*@/, '//***@')}, which does not answer: ${String(error)}`,
    );
  }
}

/** @param {{ purge?: boolean }} options */
async function down({ purge = false }) {
  const { mode, kafka, redis } = readState();
  if (mode === 'docker') stopCompose(purge);
  await Promise.all([stopServer('Kafka', kafka), stopServer('Redis', redis)]);
  if (purge) purgeData();
  else if (mode === 'docker') writeState({});
}

/** @param {{ json?: boolean }} options @returns {Promise<number>} exit code */
async function status({ json = false }) {
  const known = addresses();
  const state = readState();
  const rows = await Promise.all([
    row({
      name: 'kafka',
      variable: 'KAFKA_BROKERS',
      address: known.kafka,
      pid: state.kafka?.pid,
      ping: pingKafka,
    }),
    row({
      name: 'redis',
      variable: 'REDIS_URL',
      address: known.redis,
      pid: state.redis?.pid,
      ping: pingRedis,
    }),
  ]);
  if (json)
    console.log(
      JSON.stringify(Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest])), null, 2),
    );
  else
    for (const { name, how, address, pid, answers } of rows)
      console.log(
        `${name.padEnd(6)} ${how.padEnd(7)} ${(address ?? '-').padEnd(28)} ${pid ? `pid ${pid}` : ''} ${answers ? 'answers' : 'does not answer'}`,
      );
  return rows.every(({ answers }) => answers) ? 0 : 1;
}

/**
 * @param {{ name: string, variable: string, address: string | undefined, pid: number | undefined, ping: (address: string) => Promise<void> }} server
 */
async function row({ name, variable, address, pid, ping }) {
  const given = process.env[variable] !== undefined;
  const how = given ? 'env' : address === undefined ? 'down' : (readState().mode ?? 'native');
  const answers =
    address !== undefined &&
    (await ping(address).then(
      () => true,
      () => false,
    ));
  return { name, how, address, pid: how === 'native' ? pid : undefined, answers };
}

/** @param {{ json?: boolean }} options @returns {number} exit code */
function env({ json = false }) {
  const { kafka, redis } = addresses();
  if (kafka === undefined || redis === undefined) {
    say('the servers are down; start them with: npm run services -- up');
    return 1;
  }
  if (json) console.log(JSON.stringify({ KAFKA_BROKERS: kafka, REDIS_URL: redis }));
  else console.log(`KAFKA_BROKERS=${kafka}\nREDIS_URL=${redis}`);
  return 0;
}

/** @param {string[]} args @returns {Promise<number>} exit code */
async function kafkaTool([name = '', ...args]) {
  const tool = /** @type {Record<string, string>} */ (TOOLS)[name];
  if (tool === undefined)
    throw new ServiceError(
      `${name || 'nothing'} is no tool; there are ${Object.keys(TOOLS).join(', ')}`,
    );
  if (readState().mode === 'docker') return composeTool(name, args).status ?? 1;
  const { kafka } = addresses();
  if (kafka === undefined) throw new ServiceError('Kafka is down');
  const classpath = await kafkaClasspath(readState().kafka?.version ?? DEFAULT_RELEASE);
  const java = [
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
    '-cp',
    classpath,
    tool,
    '--bootstrap-server',
    kafka,
    ...args,
  ];
  return spawnSync('java', java, { stdio: 'inherit' }).status ?? 1;
}

/** @param {string[]} argv @returns {Promise<number>} exit code */
async function main(argv) {
  if (argv[0] === 'kafka-tool') return kafkaTool(argv.slice(1));
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      json: { type: 'boolean' },
      purge: { type: 'boolean' },
      kafka: { type: 'string' },
    },
  });
  const [command] = positionals;
  if (values.help || command === undefined) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  if (command === 'up') await up(values);
  else if (command === 'down') await down(values);
  else if (command === 'status') return status(values);
  else if (command === 'env') return env(values);
  else throw new ServiceError(`${command} is no command; see --help`);
  return 0;
}

/** @param {unknown} error */
function fail(error) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const usage = code.startsWith('ERR_PARSE_ARGS');
  const words =
    error instanceof Error
      ? usage || error instanceof ServiceError
        ? error.message
        : error.stack
      : error;
  say(String(words));
  process.exit(usage ? 2 : 1);
}

if (import.meta.filename === process.argv[1])
  main(process.argv.slice(2)).then((code) => process.exit(code), fail);

// @ts-check
import {
  addressOf,
  composeTool,
  DEFAULT_RELEASE,
  kafkaClasspath,
  runInForeground,
  ServersError,
} from '#servers';
import { SERVERS } from './clone.mjs';

/** The classes of Kafka's own tools, by the names of its scripts. */
const CLASSES = new Map([
  ['console-consumer', 'org.apache.kafka.tools.consumer.ConsoleConsumer'],
  ['consumer-groups', 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand'],
  ['topics', 'org.apache.kafka.tools.TopicCommand'],
  ['configs', 'kafka.admin.ConfigCommand'],
  ['get-offsets', 'org.apache.kafka.tools.GetOffsetShell'],
  ['transactions', 'org.apache.kafka.tools.TransactionsCommand'],
]);
export const KAFKA_TOOLS = [...CLASSES.keys()];

/**
 * Runs one of Kafka's own tools on the Kafka in use: in its container, else from its jars, which
 * are fetched if need be.
 * @param {string} name @param {string[]} args without --bootstrap-server
 * @returns {Promise<number>} exit code
 */
export async function runKafkaTool(name, args) {
  const tool = CLASSES.get(name);
  if (tool === undefined)
    throw new ServersError(`there is no tool "${name}"; there are ${KAFKA_TOOLS.join(', ')}`);
  const { mode, docker, kafka } = SERVERS.readState();
  const address = addressOf(SERVERS, 'kafka');
  if (address === undefined)
    throw new ServersError('Kafka is down; start it with: npm run services -- up');
  if (mode === 'docker' && docker && SERVERS.given.kafka === undefined)
    return composeTool(docker, name, args);
  const classpath = await kafkaClasspath(SERVERS, kafka?.release ?? DEFAULT_RELEASE);
  return runInForeground('java', [
    ...['-Xmx256m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', classpath, tool],
    ...['--bootstrap-server', address, ...args],
  ]);
}

// @ts-check
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { localAddress } from './addresses.mjs';
import { DEFAULT_RELEASE, kafkaClasspath, kafkaVersion } from './kafka-jars.mjs';
import { probeKafka } from './kafka-probe.mjs';
import { run, startServer, waitUntilItAnswers } from './processes.mjs';
import { say, ServiceError } from './say.mjs';
import { changeState, HOME, readState, runningPid } from './state.mjs';

// For small machines. The log cleaner gets less than its default 128 MB (below), which would be a quarter of this heap.
const JVM = [
  ...['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'],
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/**
 * Starts Kafka from its own jars, one node in KRaft mode, unless ours runs; returns when it answers.
 * @param {string | undefined} release undefined: the one that runs, else the default
 */
export async function startKafka(release) {
  if (runningPid('kafka') === undefined) await launch(release ?? DEFAULT_RELEASE);
  const { port = 0, release: running = '' } = readState().kafka ?? {};
  if (release !== undefined && running !== release)
    throw new ServiceError(
      `Kafka ${running} is running; run "npm run services -- down" before asking for ${release}`,
    );
  const address = localAddress('kafka', port);
  await waitUntilItAnswers({ name: 'kafka', answers: () => probeKafka(address), seconds: 150 });
  say(`Kafka ${kafkaVersion(running)} answers at ${address}: a record was written and read back`);
}

/** @param {string} release */
async function launch(release) {
  const classpath = await kafkaClasspath(release);
  const host = '127.0.0.1';
  const before = readState().kafka;
  const port = await getPort({ host, port: before?.port ?? 0 });
  // The controller keeps its port, so that brokers that were added to it find it again.
  const controller = await getPort({ host, port: before?.controller ?? 0 });
  const data = path.join(HOME, `kafka-data-${release}`);
  const config = path.join(HOME, 'kafka.properties');
  writeFileSync(config, properties({ port, controller, data }));
  if (!existsSync(path.join(data, 'meta.properties'))) format(classpath, config);
  changeState({ mode: 'native', kafka: { port, controller, release } });
  startServer('kafka', 'java', [...JVM, '-cp', classpath, 'kafka.Kafka', config]);
}

/** @param {string} classpath @param {string} config */
function format(classpath, config) {
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  // One id of 64 begins with "-": as a separate argument it would be taken for an option.
  const args = ['format', `--cluster-id=${id}`, '--config', config];
  run('java', ['-cp', classpath, 'kafka.tools.StorageTool', ...args]);
}

/** @param {{ port: number, controller: number, data: string }} node */
function properties({ port, controller, data }) {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': data,
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    // Else the change of a topic waits for others: tests create topics one after the other.
    'controller.quorum.append.linger.ms': 0,
    // Tests kill members of groups; this lets other members take over their partitions soon.
    'group.min.session.timeout.ms': 1_000,
    'log.cleaner.dedupe.buffer.size': 8_388_608,
    'num.io.threads': 2,
    'num.network.threads': 2,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

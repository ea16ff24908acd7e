import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { localAddress } from './addresses.js';
import { DEFAULT_RELEASE, kafkaClasspath, kafkaVersion } from './kafka-jars.js';
import { probeKafka } from './kafka-probe.js';
import { run, startProcess, waitUntilItAnswers } from './processes.js';
import { ServersError } from './servers-error.js';
import type { ServersFolder } from './servers-folder.js';

/**
 * Options for small machines. The log cleaner gets less than its default 128 MB (below), which
 * would be a quarter of this heap.
 */
const JVM = [
  '-Xms256m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:+ExitOnOutOfMemoryError',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/**
 * Starts one Kafka node in KRaft mode, unless ours runs; resolves when it answers.
 * @param release default: the one that runs, else DEFAULT_RELEASE
 */
export async function startKafka(
  folder: ServersFolder,
  release: string | undefined,
): Promise<void> {
  if (folder.runningPid('kafka') === undefined) await launch(folder, release ?? DEFAULT_RELEASE);
  const { port = 0, release: running = '' } = folder.readState().kafka ?? {};
  if (release !== undefined && running !== release)
    throw new ServersError(`Kafka ${running} is running; stop it before you ask for ${release}`);

  const address = localAddress('kafka', port);
  const answers = () => probeKafka(address);
  await waitUntilItAnswers(folder, { name: 'kafka', answers, seconds: 150 });
  folder.say(
    `Kafka ${kafkaVersion(running)} answers at ${address}: a record was written and read back`,
  );
}

async function launch(folder: ServersFolder, release: string): Promise<void> {
  const classpath = await kafkaClasspath(folder, release);
  const host = '127.0.0.1';
  const before = folder.readState().kafka;
  const port = await getPort({ host, port: before?.port ?? 0 });
  // The controller keeps its port, so that brokers that were added to it find it again.
  const controller = await getPort({ host, port: before?.controller ?? 0 });

  const data = folder.file(`kafka-data-${release}`);
  const config = folder.file('kafka.properties');
  writeFileSync(config, properties({ port, controller, data }));
  if (!existsSync(path.join(data, 'meta.properties'))) format(classpath, config);
  folder.changeState({ mode: 'native', kafka: { port, controller, release } });
  startProcess(folder, 'kafka', ['java', ...JVM, '-cp', classpath, 'kafka.Kafka', config]);
}

function format(classpath: string, config: string): void {
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  // One id in 64 begins with "-": as a separate argument, it would be parsed as an option.
  const args = ['format', `--cluster-id=${id}`, '--config', config];
  run('java', ['-cp', classpath, 'kafka.tools.StorageTool', ...args]);
}

interface NodeSettings {
  readonly port: number;
  /** The port of the controller. */
  readonly controller: number;
  /** The folder of the logs. */
  readonly data: string;
}

function properties({ port, controller, data }: NodeSettings): string {
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
    // By default, the change of a topic waits for others; tests create topics one after the other.
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

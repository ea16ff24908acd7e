// @ts-check
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureInstalled } from './packages.mjs';
import { probeKafka } from './kafka-probe.mjs';
import { freePort, run, startServer, waitUntilItAnswers } from './processes.mjs';
import { say, ServiceError } from './say.mjs';
import { HOME, isOurs, readState, writeState } from './state.mjs';

/** Releases that can be asked for, and the version of slf4j that each goes with. */
const RELEASES = /** @type {const} */ ({
  4.1: { kafka: '4.1.0', slf4j: '1.7.36' },
  3.9: { kafka: '3.9.1', slf4j: '1.7.36' },
});
export const KAFKA_RELEASES = Object.keys(RELEASES);
export const DEFAULT_RELEASE = '4.1';

/**
 * Starts Kafka from its own jars, one node in KRaft mode, unless ours runs.
 * @param {string} release
 */
export async function startKafka(release) {
  const { kafka: known } = readState();
  if (isOurs(known)) {
    if (known?.version !== release)
      throw new ServiceError(
        `Kafka ${known?.version ?? ''} is running; say "services down --purge" before asking for ${release}`,
      );
    return;
  }
  const classpath = await kafkaClasspath(release);
  const port = await freePort(known?.port);
  const config = writeConfig(release, port, await freePort(undefined));
  formatData(release, classpath, config);
  const { log, ...server } = startServer('kafka', 'java', [
    ...JVM,
    '-cp',
    classpath,
    'kafka.Kafka',
    config,
  ]);
  writeState({ ...readState(), mode: 'native', kafka: { ...server, port, version: release } });
  say(`Kafka ${release} is starting`);
  await waitUntilItAnswers({
    name: 'Kafka',
    server,
    log,
    answers: () => probeKafka(`127.0.0.1:${port}`),
    seconds: 60,
  });
  say(`Kafka answers on port ${port}: a record was written and read back`);
}

const JVM = [
  '-Xms256m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/**
 * The jars of a release, fetched with Maven when they are not there yet.
 * @param {string} release
 * @returns {Promise<string>}
 */
export async function kafkaClasspath(release) {
  const folder = path.join(HOME, `kafka-${release}`);
  const lib = path.join(folder, 'lib');
  const done = path.join(folder, 'complete');
  ensureInstalled(['java']);
  if (!existsSync(done)) {
    ensureInstalled(['mvn']);
    mkdirSync(folder, { recursive: true });
    rmSync(lib, { recursive: true, force: true });
    writeFileSync(path.join(folder, 'pom.xml'), pom(release));
    await download(folder, release);
    writeFileSync(done, '');
  }
  return path.join(lib, '*');
}

/** @param {string} folder @param {string} release */
async function download(folder, release) {
  say(`downloading Kafka ${release} (about 55 MB)`);
  const args = [
    '-q',
    '-B',
    '-f',
    path.join(folder, 'pom.xml'),
    'dependency:copy-dependencies',
    `-DoutputDirectory=${path.join(folder, 'lib')}`,
  ];
  const child = spawn('mvn', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (/** @type {Buffer} */ data) => (words += String(data)));
  const ticker = setInterval(() => say(`downloading: ${countJars(folder)} jars so far`), 3_000);
  const code = await new Promise((/** @type {(code: number | null) => void} */ resolve) =>
    child.on('close', resolve),
  );
  clearInterval(ticker);
  if (code !== 0)
    throw new ServiceError(
      `Maven can't fetch Kafka ${release}:\n${words.trim().split('\n').slice(-20).join('\n')}`,
    );
}

/** @param {string} folder */
function countJars(folder) {
  const lib = path.join(folder, 'lib');
  return existsSync(lib) ? readdirSync(lib).length : 0;
}

/** @param {string} release */
function pom(release) {
  const { kafka, slf4j } =
    RELEASES[/** @type {keyof typeof RELEASES} */ (/** @type {unknown} */ (release))];
  const dependency = (
    /** @type {string} */ group,
    /** @type {string} */ artifact,
    /** @type {string} */ version,
  ) =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ranklog</groupId><artifactId>kafka-server</artifactId><version>1</version>
  <dependencies>
    ${dependency('org.apache.kafka', 'kafka_2.13', kafka)}
    ${dependency('org.apache.kafka', 'kafka-tools', kafka)}
    ${dependency('org.slf4j', 'slf4j-simple', slf4j)}
  </dependencies>
</project>
`;
}

/** @param {string} release @param {number} port @param {number} controllerPort */
function writeConfig(release, port, controllerPort) {
  const file = path.join(HOME, 'kafka.properties');
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': path.join(HOME, `kafka-data-${release}`),
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.dedupe.buffer.size': 8_388_608,
    'num.io.threads': 2,
    'num.network.threads': 2,
  };
  mkdirSync(HOME, { recursive: true });
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  return file;
}

/** @param {string} release @param {string} classpath @param {string} config */
function formatData(release, classpath, config) {
  if (existsSync(path.join(HOME, `kafka-data-${release}`, 'meta.properties'))) return;
  const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  run('java', ['-cp', classpath, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', config]);
}

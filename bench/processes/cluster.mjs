// @ts-check
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import { Kafka, logLevel } from 'kafkajs';
import { DEFAULT_RELEASE, kafkaClasspath, retryFor, run } from '#servers';
import { SERVERS } from '../../scripts/services/clone.mjs';

const BROKERS = 3;
const HOST = '127.0.0.1';
const JVM = ['-Xms128m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'];
const START_SECONDS = 120;

/** @typedef {{ port: number, child: import('node:child_process').ChildProcess }} Broker */

/** Three brokers on this machine, each with a copy of each record. The first is the controller. */
export class KafkaCluster {
  /** @type {Broker[]} */
  #brokers = [];
  #folder = mkdtempSync(path.join(tmpdir(), 'ranklog-bench-kafka-'));

  get ports() {
    return this.#brokers.map(({ port }) => port);
  }

  /** host:port of every broker, separated by commas */
  get addresses() {
    return this.ports.map((port) => `${HOST}:${port}`).join(',');
  }

  async start() {
    this.#killAtExit();
    const classpath = await kafkaClasspath(SERVERS, DEFAULT_RELEASE);
    const clusterId = randomBytes(16).toString('base64url');
    const controller = await getPort({ host: HOST });
    for (let id = 1; id <= BROKERS; id++) {
      const port = await getPort({ host: HOST });
      const config = this.#writeConfig({ id, port, controller });

      const format = ['format', `--cluster-id=${clusterId}`, '--config', config];
      run('java', ['-cp', classpath, 'kafka.tools.StorageTool', ...format]);

      const args = [...JVM, '-cp', classpath, 'kafka.Kafka', config];
      this.#brokers.push({ port, child: spawn('java', args, { stdio: 'ignore' }) });
    }
    await retryFor(START_SECONDS, () => this.#checkComplete());
  }

  /** Brokers must not outlive this process. A signal that ends it emits no `exit` by itself. */
  #killAtExit() {
    process.once('exit', () => this.#kill());
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  }

  async end() {
    const running = this.#brokers.filter(({ child }) => child.exitCode === null);
    const ends = running.map(({ child }) => once(child, 'exit'));
    this.#kill();
    await Promise.all(ends);
  }

  #kill() {
    for (const { child } of this.#brokers) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @throws Error unless all brokers are members of the cluster */
  async #checkComplete() {
    const brokers = this.addresses.split(',');
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    try {
      await admin.connect();
      const cluster = await admin.describeCluster();
      const found = cluster.brokers.length;
      if (found < BROKERS) throw new Error(`only ${found} of ${BROKERS} brokers have joined`);
    } finally {
      await admin.disconnect();
    }
  }

  /**
   * Writes the properties file of a broker. `controller`: the port of the controller.
   * @param {{ id: number, port: number, controller: number }} broker
   * @returns {string} path of the file
   */
  #writeConfig({ id, port, controller }) {
    const isController = id === 1;
    const client = `PLAINTEXT://${HOST}:${port}`;
    const settings = {
      'process.roles': isController ? 'broker,controller' : 'broker',
      'node.id': id,
      'controller.quorum.voters': `1@${HOST}:${controller}`,
      'controller.listener.names': 'CONTROLLER',
      listeners: isController ? `${client},CONTROLLER://${HOST}:${controller}` : client,
      'advertised.listeners': client,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'log.dirs': path.join(this.#folder, `data-${id}`),
      'auto.create.topics.enable': false,
      'default.replication.factor': BROKERS,
      'min.insync.replicas': 2,
      'offsets.topic.replication.factor': BROKERS,
      'offsets.topic.num.partitions': 6,
      'transaction.state.log.replication.factor': BROKERS,
      'transaction.state.log.min.isr': 2,
      'transaction.state.log.num.partitions': 6,
      'log.cleaner.dedupe.buffer.size': 8_388_608,
      'num.io.threads': 2,
      'num.network.threads': 2,
    };
    const file = path.join(this.#folder, `broker-${id}.properties`);
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(file, lines.join(''));
    return file;
  }
}

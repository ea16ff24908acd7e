import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Admin } from 'kafkajs';
import { DEFAULT_RELEASE, kafkaClasspath } from '#servers';
import { SERVERS } from '../../scripts/services/clone.mjs';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { testKafka } from '../support/kafka-client.js';
import type { TestCa } from '../support/certificates.js';

const HOST = '127.0.0.1';
const JVM = [
  ...['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=info',
];

/** A user name and a password for each login. */
export type Logins = Readonly<Record<string, string>>;

/**
 * A Kafka that refuses what no ACL allows, to all but its super user. Its listeners: plain for the
 * super user, TLS with SASL (PLAIN and SCRAM-SHA-512), TLS with client certificates.
 */
export class SecureKafka {
  #log = '';

  private constructor(
    readonly ports: Readonly<Record<'plain' | 'sasl' | 'mtls', number>>,
    readonly admin: Admin,
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {
    for (const stream of [process.stdout, process.stderr])
      stream?.on('data', (data: Buffer) => (this.#log += data.toString()));
  }

  /** Starts an empty broker with certificates of this CA, and these logins for both mechanisms. */
  static async start(ca: TestCa, logins: Logins): Promise<SecureKafka> {
    const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-secure-kafka-'));
    const [plain = 0, sasl = 0, mtls = 0, controller = 0] = await freePorts(4);
    const config = path.join(folder, 'kafka.properties');
    const settings = { ...settingsOf({ plain, sasl, mtls, controller }), ...tlsOf(ca, logins) };
    const all = { ...settings, 'log.dirs': path.join(folder, 'data') };
    writeFileSync(config, lines(all));
    const java = ['-cp', await kafkaClasspath(SERVERS, DEFAULT_RELEASE)];
    const scram = Object.entries(logins).map(
      ([name, password]) => `SCRAM-SHA-512=[name=${name},password=${password}]`,
    );
    const cluster = `--cluster-id=${randomBytes(16).toString('hex').slice(0, 22)}`;
    const format = ['format', cluster, '--config', config];
    execFileSync(
      'java',
      [
        ...JVM,
        ...java,
        'kafka.tools.StorageTool',
        ...format,
        ...scram.flatMap((one) => ['--add-scram', one]),
      ],
      { stdio: 'pipe' },
    );
    const child = spawn('java', [...JVM, ...java, 'kafka.Kafka', config], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const admin = testKafka({ brokers: [`${HOST}:${plain}`] }).admin();
    const kafka = new SecureKafka({ plain, sasl, mtls }, admin, child, folder);
    await eventually(() => admin.connect().then(() => true), `Kafka answers: ${config}`);
    return kafka;
  }

  address(listener: 'plain' | 'sasl' | 'mtls'): string {
    return `${HOST}:${this.ports[listener]}`;
  }

  /** What the authorizer has refused since the last call. */
  takeRefusals(): string[] {
    const found = this.#log.match(/Principal = .* is Denied .*/g) ?? [];
    this.#log = '';
    return found;
  }

  async remove(): Promise<void> {
    await this.admin.disconnect();
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null && this.process.kill('SIGKILL')) await ended;
    rmSync(this.folder, { recursive: true });
  }
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function settingsOf({ plain, sasl, mtls, controller }: Readonly<Record<string, number>>) {
  const listeners = `PLAIN://${HOST}:${plain},SASL://${HOST}:${sasl},MTLS://${HOST}:${mtls}`;
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${HOST}:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAIN',
    listeners: `${listeners},CONTROLLER://${HOST}:${controller}`,
    'advertised.listeners': listeners,
    'listener.security.protocol.map': 'PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,MTLS:SSL',
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': false,
    'super.users': 'User:ANONYMOUS',
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'log.cleaner.dedupe.buffer.size': 8_388_608,
  };
}

function tlsOf(ca: TestCa, logins: Logins) {
  const users = Object.entries(logins).map(([name, password]) => `user_${name}="${password}"`);
  const security = 'org.apache.kafka.common.security';
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': ca.issue('kafka', `IP:${HOST}`).both,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca.cert,
    'listener.name.mtls.ssl.client.auth': 'required',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.sasl.plain.sasl.jaas.config': `${security}.plain.PlainLoginModule required ${users.join(' ')};`,
    'listener.name.sasl.scram-sha-512.sasl.jaas.config': `${security}.scram.ScramLoginModule required;`,
  };
}

function lines(settings: Readonly<Record<string, unknown>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}\n`)
    .join('');
}

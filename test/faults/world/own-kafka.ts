import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { testKafka } from '../../support/kafka-client.js';
import { PROJECT, ServicesFolder } from '../../support/project.js';

/**
 * A Kafka for this suite: a broker that faults can kill, and more brokers if a test run needs them.
 */
export class OwnKafka {
  #address = '';
  readonly #others: AddedBroker[] = [];

  private constructor(
    private readonly services: ServicesFolder,
    private readonly release: readonly string[],
  ) {}

  /** `release` is, for example, 3.9; by default, the release of scripts/services. */
  static async start(release?: string): Promise<OwnKafka> {
    const services = new ServicesFolder();
    useDownloads(services);
    const kafka = new OwnKafka(services, release === undefined ? [] : ['--kafka', release]);
    await kafka.up();
    kafka.#address = (await services.status()).kafka.address ?? '';
    return kafka;
  }

  /** The port of every broker, the first broker's first. */
  get ports(): readonly [number, ...number[]] {
    return [Number(this.#address.split(':')[1]), ...this.#others.map(({ port }) => port)];
  }

  /** host:port */
  get broker(): string {
    return this.#address;
  }

  /** Starts the broker with the address and data that it had before; resolves when it answers. */
  async up(): Promise<void> {
    const { exitCode, stderr } = await this.services.run(
      ['up', ...this.release],
      // So that no Redis is started: each test run starts its own
      { REDIS_URL: process.env['REDIS_URL'] },
    );
    if (exitCode !== 0) throw new Error(`Kafka does not start: ${stderr}`);
  }

  /** Starts brokers until there are this many. */
  async grow(brokers: number): Promise<void> {
    const first = this.services.path('kafka.properties');
    while (this.ports.length < brokers)
      this.#others.push(await AddedBroker.start(first, this.ports.length + 1));
  }

  /** Kills the first broker, which is also the controller. */
  async kill(): Promise<void> {
    const pid = this.services.pid('kafka');
    process.kill(pid, 'SIGKILL');
    await eventually(() => !exists(pid), 'the broker has ended');
  }

  async remove(): Promise<void> {
    await Promise.all(this.#others.map((broker) => broker.end()));
    await this.services.remove();
  }
}

/** Links the jars that the project has already downloaded. */
function useDownloads({ folder }: ServicesFolder): void {
  const home = path.resolve(PROJECT, process.env['RANKLOG_SERVICES_DIR'] ?? '.services');
  if (!existsSync(home)) return;
  for (const name of readdirSync(home).filter((entry) => /^kafka-\d/.test(entry)))
    symlinkSync(path.join(home, name), path.join(folder, name));
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const HOST = '127.0.0.1';
const JVM = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'];

/**
 * A broker that joins the first broker, which is the controller of both. Both have their data in
 * the same parent folder.
 */
class AddedBroker {
  private constructor(
    readonly port: number,
    private readonly process: ChildProcess,
  ) {}

  /**
   * `first` is the configuration file of the first broker, `id` the node id of the new one.
   * Resolves when it has joined.
   */
  static async start(first: string, id: number): Promise<AddedBroker> {
    const port = await freePort();
    const settings = settingsIn(first);
    const [data = '', bootstrap = ''] = ['log.dirs', 'advertised.listeners'].map((name) =>
      settings.get(name),
    );
    settings
      .set('process.roles', 'broker')
      .set('node.id', String(id))
      .set('listeners', `PLAINTEXT://${HOST}:${port}`)
      .set('advertised.listeners', `PLAINTEXT://${HOST}:${port}`)
      .set('log.dirs', `${data}-${id}`);
    const config = first.replace('.properties', `-${id}.properties`);
    writeFileSync(config, [...settings].map((entry) => `${entry.join('=')}\n`).join(''));
    const cluster = settingsIn(path.join(data, 'meta.properties')).get('cluster.id') ?? '';
    const java = ['-cp', classpathBeside(data)];
    const format = ['format', `--cluster-id=${cluster}`, '--config', config];
    execFileSync('java', [...java, 'kafka.tools.StorageTool', ...format], { stdio: 'ignore' });
    const child = spawn('java', [...JVM, ...java, 'kafka.Kafka', config], { stdio: 'ignore' });
    await joined(bootstrap.replace('PLAINTEXT://', ''), id);
    return new AddedBroker(port, child);
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null && this.process.kill('SIGKILL')) await ended;
  }
}

function settingsIn(file: string): Map<string, string> {
  const found = readFileSync(file, 'utf8').matchAll(/^([^#=\n]+)=(.*)$/gm);
  return new Map([...found].map(([, name = '', value = '']) => [name, value]));
}

/**
 * The jars of the broker with this data folder: for `kafka-data-4.1`, those of `kafka-4.1.2` in the
 * same parent folder.
 */
function classpathBeside(data: string): string {
  const folder = path.dirname(data);
  const prefix = `${path.basename(data).replace('-data', '')}.`;
  const jars = readdirSync(folder).find((name) => name.startsWith(prefix)) ?? '';
  return path.join(folder, jars, '*');
}

async function joined(bootstrap: string, id: number): Promise<void> {
  const admin = testKafka({ brokers: [bootstrap] }).admin();
  await admin.connect();
  const isIn = async () =>
    (await admin.describeCluster()).brokers.some(({ nodeId }) => nodeId === id);
  await eventually(isIn, `broker ${id} is in the cluster`);
  await admin.disconnect();
}

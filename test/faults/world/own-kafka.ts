import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { PROJECT } from '../../support/project-copy.js';
import { ServicesFolder } from '../../support/services-folder.js';
import { AddedBroker } from './added-broker.js';
import { eventually } from '../../support/eventually.js';

/** A Kafka of the suite's own: a broker that may be killed, and more of them where a run needs these. */
export class OwnKafka {
  #address = '';
  readonly #others: AddedBroker[] = [];

  private constructor(
    private readonly services: ServicesFolder,
    private readonly release: readonly string[],
  ) {}

  /** `release` such as 3.9; without it, the one that scripts/services has by default. */
  static async start(release?: string): Promise<OwnKafka> {
    const services = new ServicesFolder();
    useDownloads(services);
    const kafka = new OwnKafka(services, release === undefined ? [] : ['--kafka', release]);
    await kafka.up();
    kafka.#address = (await services.status()).kafka.address ?? '';
    return kafka;
  }

  /** Of every broker, the first one in front. */
  get ports(): readonly [number, ...number[]] {
    return [Number(this.#address.split(':')[1]), ...this.#others.map(({ port }) => port)];
  }

  /** host:port */
  get broker(): string {
    return this.#address;
  }

  /** Starts the broker again where it was, with the data that it had; resolves when it answers. */
  async up(): Promise<void> {
    const { exitCode, stderr } = await this.services.run(
      ['up', ...this.release],
      withoutOwnRedis(),
    );
    if (exitCode !== 0) throw new Error(`Kafka does not start: ${stderr}`);
  }

  /** Starts more brokers, until there are so many; they stay. */
  async grow(brokers: number): Promise<void> {
    const first = this.services.path('kafka.properties');
    while (this.ports.length < brokers)
      this.#others.push(await AddedBroker.start(first, this.ports.length + 1));
  }

  /** Kills the first broker, which is the controller, too. */
  async kill(): Promise<void> {
    const pid = this.services.pid('kafka');
    process.kill(pid, 'SIGKILL');
    await eventually(() => !exists(pid), 'the broker has ended');
  }

  /** What one of Kafka's own tools prints. */
  async tool(...args: string[]): Promise<string> {
    const { stdout } = await this.services.run(['kafka-tool', ...args], {
      KAFKA_BROKERS: this.#address,
    });
    return stdout;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#others.map((broker) => broker.end()));
    await this.services.remove();
  }
}

/** Redis servers are made for each run: scripts/services is told to be content with the one of the environment. */
function withoutOwnRedis(): NodeJS.ProcessEnv {
  return { REDIS_URL: process.env['REDIS_URL'] };
}

/** Jars that the project has fetched already need not be fetched again. */
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

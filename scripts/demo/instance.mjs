// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { BoardReader } from '#board-store';
import { topicNames } from '#contracts';
import { retryFor } from '#servers';
import { deleteKeys, openRedis } from '../redis-client.mjs';
import { HOME, ROOT } from '../services/clone.mjs';

const CLI = path.join(ROOT, 'dist/cli/main.js');

/** A separate ranklog on the running servers: its topics, group and keys are not shared. */
export class DemoInstance {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #service;

  /**
   * @param {string} name its prefix of topics and keys, and its group
   * @param {{ boards?: string, port?: number }} [options] boards file; port of its HTTP server, a
   * free one by default
   */
  constructor(name, { boards = path.join(ROOT, 'demo/boards.yaml'), port = 0 } = {}) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.log = path.join(HOME, 'logs', 'demo.log');
    /** @type {NodeJS.ProcessEnv} */
    this.env = {
      ...process.env,
      RANKLOG_BOARDS: boards,
      RANKLOG_TOPIC_PREFIX: name,
      RANKLOG_GROUP: name,
      RANKLOG_REDIS_PREFIX: name,
      RANKLOG_HTTP_HOST: '127.0.0.1',
      RANKLOG_HTTP_PORT: String(port),
      RANKLOG_OPERATIONS_PORT: '0',
    };
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    this.kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    this.redis = openRedis();
    this.reader = new BoardReader({ redis: this.redis, prefix: name });
    this.topics = topicNames(name);
  }

  /** Ends this process if ranklog refuses a setting of the environment; ranklog says which. */
  requireSettings() {
    const { status } = spawnSync(process.execPath, [CLI, 'config'], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) process.exit(status ?? 1);
  }

  /**
   * Runs a ranklog command in the foreground.
   * @param {string[]} args
   * @returns {Promise<number>} its exit code
   */
  command(...args) {
    const child = spawn(process.execPath, [CLI, ...args], { env: this.env, stdio: 'inherit' });
    return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  }

  /**
   * Runs a ranklog command in the foreground; throws if it fails.
   * @param {string[]} args
   */
  async must(...args) {
    const code = await this.command(...args);
    if (code !== 0)
      throw new Error(
        `ranklog ${args.join(' ')} ended with ${code}; the log of the service is ${this.log}`,
      );
  }

  /** Starts the service in the background; its output goes to the log. */
  start() {
    mkdirSync(path.dirname(this.log), { recursive: true });
    const service = spawn(process.execPath, [CLI, 'start'], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    service.stderr.pipe(createWriteStream(this.log));
    this.#service = service;
  }

  /**
   * Waits until the service answers over HTTP; throws if it ends, or does not answer within 30 s.
   */
  async whenReady() {
    try {
      await retryFor(
        30,
        () => this.#read(),
        () => this.#runs(),
      );
    } catch (error) {
      throw new Error(`the service did not start: ${String(error)}; its log is ${this.log}`, {
        cause: error,
      });
    }
  }

  async #read() {
    const { ok, status } = await fetch(`${this.url}/v1/boards`);
    if (!ok) throw new Error(`${this.url}/v1/boards answers ${status}`);
  }

  #runs() {
    return this.#service?.exitCode === null && this.#service.signalCode === null;
  }

  /** Stops the service, and removes its topics, group and keys. */
  async remove() {
    await this.#stop();
    const admin = this.kafka.admin();
    await admin.connect();
    const own = Object.values(this.topics);
    const topics = (await admin.listTopics()).filter((topic) => own.includes(topic));
    await admin.deleteTopics({ topics });
    // It does not exist if it never had a member
    await admin.deleteGroups([this.name]).catch(() => undefined);
    await admin.disconnect();
    await deleteKeys(this.redis, `${this.name}:*`);
    this.redis.disconnect();
  }

  async #stop() {
    const service = this.#service;
    if (service === undefined || !this.#runs()) return;
    service.kill('SIGTERM');
    await new Promise((resolve) => service.on('close', resolve));
  }
}

// @ts-check
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { BoardReader } from '#board-store';
import { topicNames } from '#contracts';
import { HOME, ROOT } from '../services/state.mjs';

const CLI = path.join(ROOT, 'dist/cli/main.js');

/** A separate ranklog on the running servers: its topics, group and keys are not shared. */
export class DemoInstance {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #service;

  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.log = path.join(HOME, 'logs', 'demo.log');
    /** @type {NodeJS.ProcessEnv} */
    this.env = {
      ...process.env,
      RANKLOG_BOARDS: path.join(ROOT, 'demo/boards.yaml'),
      RANKLOG_TOPIC_PREFIX: name,
      RANKLOG_GROUP: name,
      RANKLOG_REDIS_PREFIX: name,
      RANKLOG_HTTP_PORT: '0',
    };
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    this.kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    this.redis = new Redis(process.env['REDIS_URL'] ?? '');
    this.reader = new BoardReader({ redis: this.redis, prefix: name });
    this.topics = topicNames(name);
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

  /** Stops the service, and removes its topics, group and keys. */
  async remove() {
    await this.#stop();
    const admin = this.kafka.admin();
    await admin.connect();
    await admin.deleteTopics({ topics: Object.values(this.topics) });
    await admin.deleteGroups([this.name]).catch(() => undefined); // it does not exist if it never had a member
    await admin.disconnect();
    const keys = await this.redis.keys(`${this.name}:*`);
    if (keys.length > 0) await this.redis.unlink(...keys);
    this.redis.disconnect();
  }

  async #stop() {
    const service = this.#service;
    if (service === undefined || service.exitCode !== null) return;
    service.kill('SIGTERM');
    await new Promise((resolve) => service.on('close', resolve));
  }
}

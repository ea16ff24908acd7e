import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Redis } from 'ioredis';
import type { Admin, Kafka } from 'kafkajs';
import { BoardReader, KeySpace, StoreStatus } from '#board-store';
import { ScoreProducer } from '#client';
import { topicNames, type TopicNames } from '#contracts';
import { testKafka } from './kafka-client.js';
import { deleteKeys, openRedis } from '../../scripts/redis-client.mjs';
import { createTopics } from '../../src/infra/topics.js';

const CLI = path.resolve('dist/cli/main.js');

/** Creates the topics as `ranklog topics` does. */
export async function createTestTopics(
  admin: Admin,
  topics: TopicNames,
  partitions: number,
  replicationFactor = -1,
): Promise<void> {
  await createTopics(admin, topics, {
    partitions,
    replicationFactor,
    allowShortHistory: false,
  });
}

/** A ranklog with its own topics, group, keys and boards file. End it with `remove`. */
export class TestInstance {
  readonly name = `test-${randomUUID().slice(0, 8)}`;
  readonly topics: TopicNames = topicNames(this.name);
  readonly kafka: Kafka;
  readonly redis: Redis;
  readonly reader: BoardReader;
  readonly status: StoreStatus;
  readonly #processes: RanklogProcess[] = [];

  private constructor(
    readonly admin: Admin,
    kafka: Kafka,
    private readonly folder: string,
    readonly env: NodeJS.ProcessEnv,
  ) {
    this.kafka = kafka;
    this.redis = openRedis();
    this.reader = new BoardReader({ redis: this.redis, prefix: this.name });
    this.status = new StoreStatus(this.redis, new KeySpace(this.name));
    Object.assign(env, {
      RANKLOG_TOPIC_PREFIX: this.name,
      RANKLOG_GROUP: this.name,
      RANKLOG_REDIS_PREFIX: this.name,
    });
  }

  /** Creates the topics; starts no process. `env` overrides the environment of the processes. */
  static async create(
    boards: string,
    { partitions = 4, env = {} }: { partitions?: number; env?: NodeJS.ProcessEnv } = {},
  ): Promise<TestInstance> {
    const folder = await mkdtemp(path.join(tmpdir(), 'ranklog-test-'));
    const file = path.join(folder, 'boards.yaml');
    await writeFile(file, boards);
    const { KAFKA_BROKERS = '' } = { ...process.env, ...env };
    const kafka = testKafka({ brokers: KAFKA_BROKERS.split(',') });
    const admin = kafka.admin();
    await admin.connect();
    const base = {
      ...process.env,
      RANKLOG_BOARDS: file,
      RANKLOG_SESSION_TIMEOUT: '2s',
      RANKLOG_START_TIMEOUT: '2m', // for a busy machine
      RANKLOG_SHUTDOWN_TIMEOUT: '60s',
      RANKLOG_LOG_FORMAT: 'json',
      ...env,
    };
    const instance = new TestInstance(admin, kafka, folder, base);
    await createTestTopics(admin, instance.topics, partitions);
    return instance;
  }

  /** Starts a command. */
  spawn(...args: string[]): RanklogProcess {
    const child = new RanklogProcess(args, this.env);
    this.#processes.push(child);
    return child;
  }

  /** Runs a command and returns its output. @throws unless its exit code is 0 */
  async run(...args: string[]): Promise<string> {
    const child = this.spawn(...args);
    const code = await child.ended;
    if (code !== 0)
      throw new Error(`ranklog ${args.join(' ')} ended with ${String(code)}: ${child.errors}`);
    return child.output;
  }

  /** Starts the service; resolves when it runs. */
  async start(...args: string[]): Promise<RanklogProcess> {
    const service = this.spawn('start', ...args);
    await until(
      () => service.errors.includes('"running:') || service.exitCode !== null,
      'the service runs',
    );
    if (service.exitCode !== null) throw new Error(`the service did not start: ${service.errors}`);
    return service;
  }

  /** Sends lines of score events in order, in batches. */
  async produce(lines: readonly string[], atOnce = 1_000): Promise<void> {
    const producer = new ScoreProducer({ kafka: this.kafka, topicPrefix: this.name });
    await producer.connect();
    for (let from = 0; from < lines.length; from += atOnce)
      await producer.sendMessages(
        lines.slice(from, from + atOnce).map((line) => producer.toMessage(line)),
      );
    await producer.disconnect();
  }

  /** Sum of the group's committed offsets. */
  async publishedCount(): Promise<number> {
    const [topic] = await this.admin.fetchOffsets({
      groupId: this.name,
      topics: [this.topics.scoreEvents],
    });
    return (topic?.partitions ?? []).reduce(
      (sum, { offset }) => sum + Math.max(0, Number(offset)),
      0,
    );
  }

  /** Waits until `count` records of the score topic are published. */
  async published(count: number): Promise<void> {
    await until(
      async () => (await this.publishedCount()) >= count,
      `${count} records are published`,
    );
  }

  /** Kills the processes, and removes topics, keys and boards file. The group stays. */
  async remove(): Promise<void> {
    for (const child of this.#processes) child.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ ended }) => ended));
    await this.admin.deleteTopics({ topics: Object.values(this.topics) });
    await this.admin.disconnect();
    await deleteKeys(this.redis, `${this.name}:*`);
    this.redis.disconnect();
    await rm(this.folder, { recursive: true });
  }
}

/** A ranklog command in its own process. */
export class RanklogProcess {
  output = '';
  errors = '';
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly #child: ChildProcess;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [CLI, ...args], {
      // free ports, as many run concurrently
      env: { RANKLOG_HTTP_PORT: '0', RANKLOG_OPERATIONS_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.#child.stderr?.on('data', (data: Buffer) => (this.errors += data.toString()));
    this.ended = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        resolve(code ?? signal);
      });
    });
  }

  /** The URL of the HTTP server of the role `query`, from the log. */
  get url(): string {
    return /"HTTP at ([^"]+)/.exec(this.errors)?.[1] ?? 'nowhere';
  }

  /** The URL of health and metrics, from the log. */
  get operations(): string {
    return /"health and metrics at ([^"]+)/.exec(this.errors)?.[1] ?? 'nowhere';
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get exitCode(): number | NodeJS.Signals | null {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  kill(signal: NodeJS.Signals): void {
    if (this.exitCode === null) this.#child.kill(signal);
  }
}

const POLL_MS = 25;

/** Waits until a condition holds. @throws after `seconds`, naming `what` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  seconds = 120,
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  while (!(await condition())) {
    if (performance.now() > end)
      throw new Error(`waited ${seconds} s without success until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import kafkajs, { type Kafka } from 'kafkajs';
import { topicNames } from '#contracts';
import { kindOfRedis } from '#servers';
import { RanklogProgram } from './ranklog-program.js';
import { startServers, type TestServers } from './test-servers.js';

export interface RanklogOptions {
  /** The text of a boards file. */
  readonly boards: string;
  /** Settings as environment variables: `{ RANKLOG_PARTITIONS: '1' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How long ranklog may take to create its topics and start, in ms; 60,000 by default. */
  readonly timeoutMs?: number;
}

/** Options of RanklogModule, ScoreProducer and subscribers. BoardReader takes `redis`, `prefix`. */
export interface RanklogClients {
  readonly kafka: Kafka;
  readonly redis: Redis;
  readonly topicPrefix: string;
  readonly redisPrefix: string;
  readonly ranklogGroup: string;
  /** For subscribers: not the group of a service that runs beside the tests. */
  readonly groupId: string;
}

/** A ranklog with topics and keys of its own. */
export interface RunningRanklog {
  readonly clients: RanklogClients;
  /** The address of its HTTP API, which accepts score events, too. */
  readonly url: string;
  /** The settings of a process that uses the same topics and keys, such as KAFKA_BROKERS. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends ranklog, and deletes its topics and keys. Close your own clients first. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const ADDRESS = /"HTTP at (http:[^"]+)"/;

/**
 * Starts a ranklog with all roles for a test, on the servers of startServers.
 *
 *     const ranklog = await startRanklog({ boards: readFileSync('boards.yaml', 'utf8') });
 *     const module = RanklogModule.forRoot(ranklog.clients);
 *
 * @throws ServersError, and an Error with the end of the log if ranklog does not start
 */
export async function startRanklog(options: RanklogOptions): Promise<RunningRanklog> {
  const servers = await startServers();
  let ranklog: TestRanklog | undefined;
  try {
    ranklog = new TestRanklog(servers, options);
    await ranklog.start();
    return ranklog;
  } catch (error) {
    await (ranklog ?? servers).stop().catch(() => undefined); // the first error is thrown
    throw error;
  }
}

class TestRanklog implements RunningRanklog {
  readonly clients: RanklogClients;
  readonly env: Readonly<Record<string, string>>;
  url = '';
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'ranklog-test-'));
  #program: RanklogProgram | undefined;
  #stopping: Promise<void> | undefined;

  constructor(
    private readonly servers: TestServers,
    private readonly options: RanklogOptions,
  ) {
    const { kafkaBrokers, redisUrl } = servers;
    if (kindOfRedis(redisUrl) !== 'single')
      throw new Error(
        'REDIS_URL names a cluster or sentinels; startRanklog takes one server: leave it out',
      );
    const name = `test-${randomUUID().slice(0, 8)}`;
    const boards = path.join(this.#folder, 'boards.yaml');
    writeFileSync(boards, options.boards);
    this.clients = {
      kafka: new kafkajs.Kafka({
        brokers: kafkaBrokers.split(','),
        logLevel: kafkajs.logLevel.ERROR,
      }),
      redis: new Redis(redisUrl),
      topicPrefix: name,
      redisPrefix: name,
      ranklogGroup: name,
      groupId: `${name}-service`,
    };
    this.env = {
      KAFKA_BROKERS: kafkaBrokers,
      REDIS_URL: redisUrl,
      RANKLOG_BOARDS: boards,
      RANKLOG_TOPIC_PREFIX: name,
      RANKLOG_REDIS_PREFIX: name,
      RANKLOG_GROUP: name,
      RANKLOG_PARTITIONS: '3',
      RANKLOG_HTTP_PORT: '0',
      RANKLOG_OPERATIONS_PORT: '0',
      RANKLOG_QUERY_WRITES: 'true',
      ...options.settings,
    };
  }

  async start(): Promise<void> {
    const { timeoutMs = START_TIMEOUT_MS } = this.options;
    const deadline = performance.now() + timeoutMs;
    this.#program = new RanklogProgram(['topics'], this.env);
    await this.#program.succeeds(deadline);
    this.#program = new RanklogProgram(['start'], this.env);
    await this.#program.logs(/"running:/, deadline);
    const [, url = ''] = await this.#program.logs(ADDRESS, deadline);
    this.url = url;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    try {
      await this.#program?.stop();
      await Promise.all([this.#deleteTopics(), this.#deleteKeys()]);
    } finally {
      this.clients.redis.disconnect();
      rmSync(this.#folder, { recursive: true, force: true });
      await this.servers.stop();
    }
  }

  async #deleteTopics(): Promise<void> {
    const { kafka, topicPrefix } = this.clients;
    const admin = kafka.admin();
    try {
      await admin.connect();
      const existing = new Set(await admin.listTopics());
      const topics = Object.values(topicNames(topicPrefix)).filter((topic) => existing.has(topic));
      if (topics.length > 0) await admin.deleteTopics({ topics });
      // The group may not exist.
      await admin.deleteGroups([this.clients.ranklogGroup]).catch(() => undefined);
    } finally {
      await admin.disconnect();
    }
  }

  async #deleteKeys(): Promise<void> {
    const { redis, redisPrefix } = this.clients;
    for await (const keys of redis.scanStream({ match: `${redisPrefix}:*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
  }
}

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Admin, Kafka } from 'kafkajs';
import { BoardReader, GenerationStore, KeySpace } from '#board-store';
import { topicNames, type TopicNames } from '#contracts';
import { lastCommittedRecord } from '#kafka-batch';
import { kindOfRedis, type RedisKind } from '#servers';
import { letProducersDate, needReplicas, testKafka } from '../../support/kafka-client.js';
import { createTestTopics } from '../../support/instance.js';
import { boardsFile, type BoardName } from '../boards.js';
import { eventually } from '../../support/eventually.js';
import { RanklogCommand } from './ranklog-command.js';
import type { OwnKafka } from './own-kafka.js';
import type { RedisCluster } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import type { SentinelSet } from '../../support/sentinel-set.js';
import { RedisGroup, SingleRedis, startRedis, type RunRedis } from './run-redis.js';
import { Worker } from './worker.js';

export const PARTITIONS = 4;
export const MAX_WORKERS = 3;

/** The parts of a plan that hold from its beginning on. */
interface WorldOptions {
  readonly shards: number;
  readonly announces: boolean;
  readonly redis: RedisKind;
  readonly brokers: number;
}

/** Nothing listens there. */
const NO_PORT = '1';

/**
 * The topics, keys, Redis server and workers of one test run, and the tally of what was done to
 * them. End it with `remove`.
 */
export class World {
  readonly name = `faults-${randomUUID().slice(0, 8)}`;
  readonly topics: TopicNames = topicNames(this.name);
  readonly keys = new KeySpace(this.name);
  readonly client: Kafka;
  readonly admin: Admin;
  readonly workers: Worker[] = [];
  /** How often each thing was done. */
  readonly tally = new Map<string, number>();
  /** When Redis lost acknowledged writes, in us since 1970: while it was down. */
  readonly losses: number[] = [];
  readonly #commands: RanklogCommand[] = [];
  #redis: RunRedis | undefined;
  #folder = '';
  #env: NodeJS.ProcessEnv = {};

  private constructor(
    readonly kafka: OwnKafka,
    readonly shards: number,
    /**
     * Whether the broker stamps the records, so that the results of closed windows are announced.
     */
    readonly announces: boolean,
    /** Prints a line about what happens. */
    readonly note: (line: string) => void,
  ) {
    this.client = testKafka({
      brokers: [kafka.broker],
      retry: { initialRetryTime: 100, retries: 12, maxRetryTime: 2_000 },
    });
    this.admin = this.client.admin();
  }

  static async create(
    kafka: OwnKafka,
    { shards, announces, redis, brokers }: WorldOptions,
    note: (line: string) => void,
  ): Promise<World> {
    const world = new World(kafka, shards, announces, note);
    try {
      await world.#prepare(redis, brokers);
      return world;
    } catch (error) {
      await world.remove();
      throw error;
    }
  }

  get kind(): RedisKind {
    return kindOfRedis(this.redis.url);
  }

  get redis(): RunRedis {
    if (this.#redis === undefined) throw new Error('there is no Redis yet');
    return this.#redis;
  }

  /** The Redis server that the workers use. @throws if Redis is a cluster or has sentinels */
  get server(): RedisServer {
    return this.#single.server;
  }

  /** @throws unless Redis is a cluster or has sentinels */
  get group(): RedisCluster | SentinelSet {
    if (this.#redis instanceof RedisGroup) return this.#redis.servers;
    throw new Error('Redis is a single server');
  }

  get #single(): SingleRedis {
    if (this.#redis instanceof SingleRedis) return this.#redis;
    throw new Error('Redis is not a single server');
  }

  get running(): Worker[] {
    return this.workers.filter((worker) => worker.isRunning);
  }

  async addWorker(): Promise<Worker> {
    const targets = { kafkaPorts: this.kafka.ports, redis: this.redis.target };
    const worker = await Worker.start(`w${this.workers.length + 1}`, targets, this.#env);
    this.workers.push(worker);
    return worker;
  }

  /** Starts `ranklog boards ...` with a boards file that changes these boards. */
  async boards(
    args: readonly string[],
    changed: readonly BoardName[] = [],
  ): Promise<RanklogCommand> {
    const file = await this.#writeBoards(changed);
    return this.#start(new RanklogCommand(['boards', ...args], this.#commandEnv(file)));
  }

  /** Starts `ranklog dead-letters retry` for all dead letters. */
  retry(): RanklogCommand {
    const args = ['dead-letters', 'retry', '--yes', '--json'];
    return this.#start(new RanklogCommand(args, this.#commandEnv()));
  }

  /** Starts `ranklog periods announce --again` for an announced window. */
  announceAgain(board: BoardName, window: string): RanklogCommand {
    const args = ['periods', 'announce', board, window, '--again', '--json'];
    return this.#start(new RanklogCommand(args, this.#commandEnv()));
  }

  /** Starts `ranklog status`. */
  status(): RanklogCommand {
    return this.#start(new RanklogCommand(['status', '--json'], this.#commandEnv()));
  }

  /** Starts `ranklog skip` for a batch that can't be read. */
  skip(batch: string): RanklogCommand {
    return this.#start(new RanklogCommand(['skip', batch], this.#commandEnv()));
  }

  /** Starts the same command again. */
  repeat(command: RanklogCommand): RanklogCommand {
    return this.#start(command.again());
  }

  #start(command: RanklogCommand): RanklogCommand {
    this.#commands.push(command);
    return command;
  }

  /** Commands have no proxies: they ask the current Redis. */
  #commandEnv(boards = this.#env['RANKLOG_BOARDS']): NodeJS.ProcessEnv {
    return { ...this.#env, REDIS_URL: this.redis.url, RANKLOG_BOARDS: boards };
  }

  get generations(): GenerationStore {
    return new GenerationStore(this.redis.redis, this.keys, this);
  }

  /** The live generation of each board. */
  async live(): Promise<Map<string, string>> {
    const boards = await new BoardReader({
      redis: this.redis.redis,
      prefix: this.keys.prefix,
    }).boards();
    return new Map(boards.map(({ board, generation }) => [board, generation]));
  }

  /**
   * Records that Redis has lost acknowledged writes. Call it while Redis is down, or give the time
   * of the loss in us.
   */
  recordLoss(time = Date.now() * 1_000): void {
    this.losses.push(time);
  }

  /** Counts and prints what was done. */
  did(what: string, note: string, times = 1): void {
    this.count(what, times);
    this.note(note);
  }

  count(what: string, times = 1): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + times);
  }

  /** The published position of each partition. */
  async published(): Promise<Map<number, number>> {
    const [topic] = await this.admin.fetchOffsets({
      groupId: this.name,
      topics: [this.topics.scoreEvents],
    });
    const partitions = topic?.partitions ?? [];
    return new Map(partitions.map(({ partition, offset }) => [partition, Math.max(0, +offset)]));
  }

  /** The offset after the last record of each partition of the score topic. */
  async logEnds(): Promise<Map<number, number>> {
    const offsets = await this.admin.fetchTopicOffsets(this.topics.scoreEvents);
    return new Map(offsets.map(({ partition, high }) => [partition, Number(high)]));
  }

  /** The offset after the last event of each partition: markers of transactions may follow it. */
  async eventEnds(): Promise<Map<number, number>> {
    const topic = this.topics.scoreEvents;
    const ends = [...(await this.logEnds()).keys()].map(async (partition) => {
      const last = await lastCommittedRecord(this.client, topic, partition);
      return [partition, (last?.offset ?? -1) + 1] as const;
    });
    return new Map(await Promise.all(ends));
  }

  /** Waits until this many more records are published. */
  async publishedMore(records: number, seconds = 150): Promise<void> {
    let before: number | undefined;
    await eventually(
      async () => {
        const now = sum(await this.published());
        before ??= now;
        return now >= before + records;
      },
      `${records} more records are published`,
      seconds,
    );
  }

  /** Waits until every partition has reached these published positions. */
  async publishedTo(ends: ReadonlyMap<number, number>, seconds = 150): Promise<void> {
    await eventually(
      async () => {
        const published = await this.published();
        return [...ends].every(([partition, end]) => (published.get(partition) ?? 0) >= end);
      },
      'everything below the given offsets is published',
      seconds,
    );
  }

  /** Waits until records written from now on are published in every partition. */
  async publishedEverywhere(): Promise<void> {
    const ends = await this.logEnds();
    await this.publishedTo(new Map([...ends].map(([partition, end]) => [partition, end + 1])));
  }

  /** Kills the current Redis, and redirects the workers to another one. */
  async failOver(server: RedisServer): Promise<void> {
    await this.server.kill();
    this.recordLoss();
    this.#single.replaceBy(server);
    for (const worker of this.workers) worker.failOver(server.port);
  }

  /**
   * Makes the current Redis a replica of another one, and keeps its connections; new ones go to the
   * other. A replica that is cut off keeps its old data.
   */
  async demote(server: RedisServer, isCutOff: boolean): Promise<void> {
    await this.server.redis.replicaof('127.0.0.1', isCutOff ? NO_PORT : String(server.port));
    this.recordLoss();
    this.#single.replaceBy(server);
    for (const { redis } of this.workers) redis.retarget({ host: '127.0.0.1', port: server.port });
  }

  /** Closes the connections of all workers to Redis; new connections are accepted. */
  async breakRedis(): Promise<void> {
    if (this.kind === 'single') for (const { redis } of this.running) redis.breakAll();
    else
      for (const primary of await this.redis.primaries())
        await primary.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }

  async remove(): Promise<void> {
    await Promise.all(this.#commands.map((command) => command.kill()));
    await Promise.all(this.workers.map((worker) => worker.end('SIGKILL')));
    const deleted = this.admin.deleteTopics({ topics: Object.values(this.topics) });
    await deleted.catch(() => undefined); // the topics do not exist, or the broker ends too
    await this.admin.disconnect();
    await this.#redis?.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #prepare(redis: RedisKind, brokers: number): Promise<void> {
    this.#folder = await mkdtemp(path.join(tmpdir(), 'ranklog-faults-'));
    const boards = await this.#writeBoards([]);
    this.#redis = await startRedis(redis);
    this.#env = {
      ...process.env,
      KAFKA_BROKERS: this.kafka.broker,
      REDIS_URL: this.redis.url,
      RANKLOG_BOARDS: boards,
      RANKLOG_TOPIC_PREFIX: this.name,
      RANKLOG_GROUP: this.name,
      RANKLOG_REDIS_PREFIX: this.name,
      RANKLOG_SHARDS: String(this.shards),
      RANKLOG_SESSION_TIMEOUT: '2s',
      RANKLOG_CLOCK_TOLERANCE: '1s',
      RANKLOG_START_TIMEOUT: '2m', // a busy machine may be slow
      RANKLOG_SHUTDOWN_TIMEOUT: '60s',
      RANKLOG_LOG_FORMAT: 'json',
    };
    await this.admin.connect();
    await createTestTopics(this.admin, this.topics, PARTITIONS, brokers);
    if (!this.announces) await letProducersDate(this, this.topics.scoreEvents);
    if (brokers > 1)
      for (const topic of Object.values(this.topics)) await needReplicas(this, topic, brokers - 1);
  }

  async #writeBoards(changed: readonly BoardName[]): Promise<string> {
    const file = path.join(this.#folder, `${['boards', ...changed].join('-')}.yaml`);
    await writeFile(file, boardsFile(changed));
    return file;
  }
}

export function sum(positions: ReadonlyMap<number, number>): number {
  return [...positions.values()].reduce((total, position) => total + position, 0);
}

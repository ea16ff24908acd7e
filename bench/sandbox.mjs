// @ts-check
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { topicNames } from '#contracts';
import { withCleanUp } from '../scripts/clean-up.mjs';
import { deleteKeys, openRedis } from '../scripts/redis-client.mjs';

export const PARTITIONS = 4;
/**
 * The time between two looks at committed offsets. Each takes 1 ms of CPU of Kafka, so there are
 * fewer while the end is far.
 */
const LOOK_EVERY_MS = { least: 50, most: 1_000 };

/**
 * Topics, group, keys and a boards file of one bench run, and clients of Kafka and Redis. `remove`
 * ends the bench run.
 */
export class Sandbox {
  /** @param {{ partitions?: number, redisUrl?: string }} [options] `redisUrl`: default REDIS_URL */
  constructor({ partitions = PARTITIONS, redisUrl } = {}) {
    // As short as the default prefix: Redis reuses the objects of arguments up to 64 bytes, such as
    // the key of a ranking, for the commands of a script.
    this.name = `b-${randomUUID().slice(0, 5)}`;
    this.partitions = partitions;
    this.topics = topicNames(this.name);
    this.kafka = new Kafka({
      brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
      logLevel: logLevel.NOTHING,
    });
    this.redis = openRedis(redisUrl);
    this.redisUrl = redisUrl;
    this.admin = this.kafka.admin();
    this.folder = mkdtempSync(path.join(tmpdir(), 'ranklog-bench-'));
  }

  /** Connects, and makes the topics. */
  async open() {
    await this.admin.connect();
    const configEntries = [{ name: 'retention.ms', value: '-1' }];
    const topics = Object.values(this.topics);
    await this.admin.createTopics({
      topics: topics.map((topic) => ({ topic, numPartitions: this.partitions, configEntries })),
      waitForLeaders: false, // kafkajs gives up if a busy broker does not know the topics yet
    });
    for (const topic of topics)
      while (!(await this.#hasLeaders(topic))) await delay(LOOK_EVERY_MS.least);
  }

  /** @param {string} topic */
  #hasLeaders(topic) {
    return this.admin.fetchTopicOffsets(topic).then(
      () => true,
      () => false,
    );
  }

  /**
   * The environment of a ranklog on this sandbox.
   * @param {string} boards text of the boards file @returns {NodeJS.ProcessEnv}
   */
  env(boards) {
    const file = path.join(this.folder, 'boards.yaml');
    writeFileSync(file, boards);
    return {
      ...process.env,
      ...(this.redisUrl && { REDIS_URL: this.redisUrl }),
      RANKLOG_BOARDS: file,
      RANKLOG_TOPIC_PREFIX: this.name,
      RANKLOG_GROUP: this.name,
      RANKLOG_REDIS_PREFIX: this.name,
      RANKLOG_LOG_LEVEL: 'warn',
      RANKLOG_HTTP_PORT: '0',
      RANKLOG_OPERATIONS_PORT: '0',
    };
  }

  /**
   * Committed offsets of the sandbox's group, summed over the partitions. @param {string} [topic]
   * default: score events
   */
  async published(topic = this.topics.scoreEvents) {
    const [found] = await this.admin.fetchOffsets({ groupId: this.name, topics: [topic] });
    return (found?.partitions ?? []).reduce(
      (sum, { offset }) => sum + Math.max(0, Number(offset)),
      0,
    );
  }

  /**
   * Waits until the process has committed so many events; returns how many they are by then.
   * @param {number} events @param {import('./process.mjs').BenchProcess} process @param {string}
   * [topic]
   */
  async reached(events, process, topic) {
    const begun = { at: performance.now(), published: await this.published(topic) };
    for (let { published } = begun; ; published = await this.published(topic)) {
      if (published >= events) return published;
      await process.checkRunning();
      const rate = (published - begun.published) / (performance.now() - begun.at);
      const halfWay = rate > 0 ? (events - published) / rate / 2 : 0;
      await delay(Math.min(LOOK_EVERY_MS.most, Math.max(LOOK_EVERY_MS.least, halfWay)));
    }
  }

  async remove() {
    const { admin, redis, name } = this;
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(name));
    await admin.deleteTopics({ topics });
    await admin.disconnect();
    await deleteKeys(redis, `${name}*`);
    redis.disconnect();
    rmSync(this.folder, { recursive: true });
  }
}

/**
 * Runs some work in a sandbox, which is removed afterwards.
 * @template T
 * @param {(sandbox: Sandbox) => Promise<T>} work
 * @param {{ partitions?: number, redisUrl?: string }} [options]
 */
export function withSandbox(work, options) {
  const sandbox = new Sandbox(options);
  const run = async () => {
    await sandbox.open();
    return work(sandbox);
  };
  return withCleanUp(run, () => sandbox.remove());
}

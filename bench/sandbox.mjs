// @ts-check
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { topicNames } from '#contracts';

export const PARTITIONS = 4;

/** Topics, group, keys and a boards file of one bench run, and clients of Kafka and Redis. `remove` ends the bench run. */
export class Sandbox {
  /** @param {string} what prefix of the name of the bench run */
  constructor(what) {
    this.name = `${what}-${randomUUID().slice(0, 8)}`;
    this.topics = topicNames(this.name);
    this.kafka = new Kafka({
      brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
      logLevel: logLevel.NOTHING,
    });
    this.redis = new Redis(process.env['REDIS_URL'] ?? '');
    this.admin = this.kafka.admin();
    this.folder = mkdtempSync(path.join(tmpdir(), `ranklog-${what}-`));
  }

  /** Connects, and makes the topics. */
  async open() {
    await this.admin.connect();
    const configEntries = [{ name: 'retention.ms', value: '-1' }];
    await this.admin.createTopics({
      topics: Object.values(this.topics).map((topic) => ({
        ...{ topic, numPartitions: PARTITIONS, configEntries },
      })),
    });
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
      RANKLOG_BOARDS: file,
      RANKLOG_TOPIC_PREFIX: this.name,
      RANKLOG_GROUP: this.name,
      RANKLOG_REDIS_PREFIX: this.name,
      RANKLOG_LOG_LEVEL: 'warn',
      RANKLOG_HTTP_PORT: '0',
    };
  }

  /** Committed offsets of ranklog's group, summed over the partitions. */
  async published() {
    const { admin, name, topics } = this;
    const [topic] = await admin.fetchOffsets({ groupId: name, topics: [topics.scoreEvents] });
    return (topic?.partitions ?? []).reduce(
      (sum, { offset }) => sum + Math.max(0, Number(offset)),
      0,
    );
  }

  async remove() {
    const { admin, redis, name } = this;
    await admin.deleteTopics({ topics: Object.values(this.topics) });
    await admin.disconnect();
    const keys = await redis.keys(`${name}*`);
    if (keys.length > 0) await redis.unlink(...keys);
    redis.disconnect();
    rmSync(this.folder, { recursive: true });
  }
}

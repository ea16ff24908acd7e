import { afterEach, beforeEach, expect } from '@jest/globals';
import { CompressionTypes, Partitioners, type Message } from 'kafkajs';
import type { RankChange } from '#contracts';
import { TestInstance, until } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, readRankChanges } from '../support/results.js';
import { TcpProxy } from '../support/tcp-proxy.js';

export const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

/** An event of the board, as JSON. */
export const event = (playerId: string, delta = 1) =>
  JSON.stringify({ board: 'arena', playerId, delta });

/** The score topic of an instance. */
export class ScoreTopic {
  constructor(private readonly instance: TestInstance) {}

  get name(): string {
    return this.instance.topics.scoreEvents;
  }

  /** Sends one event of each player to a partition. */
  send(partition: number, players: readonly string[], delta = 1): Promise<void> {
    return this.sendMessages(
      players.map((playerId) => ({ partition, key: playerId, value: event(playerId, delta) })),
    );
  }

  /** Sends each batch in one request. */
  async sendMessages(...batches: readonly Message[][]): Promise<void> {
    const { kafka } = this.instance;
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    for (const messages of batches) {
      const isLarge = messages.some(({ value }) => (value?.length ?? 0) > 2_000_000);
      const compression = isLarge ? CompressionTypes.GZIP : CompressionTypes.None;
      await producer.send({ topic: this.name, messages, compression });
    }
    await producer.disconnect();
  }

  /** The end offset of each partition. */
  async ends(): Promise<Map<number, number>> {
    const ends = await this.instance.admin.fetchTopicOffsets(this.name);
    return new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
  }

  /** Deletes the records before an offset, or all. */
  async cut(partition: number, offset = -1): Promise<void> {
    await this.ends(); // kafkajs must know the topic
    await this.instance.admin.deleteTopicRecords({
      topic: this.name,
      partitions: [{ partition, offset: String(offset) }],
    });
  }

  /** Deletes the topic and creates another one with the same name. */
  async recreate(numPartitions: number): Promise<void> {
    const { admin } = this.instance;
    await admin.deleteTopics({ topics: [this.name] });
    await until(async () => !(await admin.listTopics()).includes(this.name), 'it is deleted');
    // A service does not start without it
    const configEntries = [{ name: 'retention.ms', value: '-1' }];
    const topics = [{ topic: this.name, numPartitions, configEntries }];
    await until(
      async () =>
        // The topic may exist despite the error
        (await admin.createTopics({ topics }).catch(() => false)) ||
        (await admin.listTopics()).includes(this.name),
      'it is created again',
    );
  }

  /** The group's committed offset of a partition; -1 for none. */
  async published(partition: number): Promise<number> {
    const { admin, name } = this.instance;
    const [group] = await admin.fetchOffsets({ groupId: name, topics: [this.name] });
    const found = group?.partitions.find((entry) => entry.partition === partition);
    return Number(found?.offset ?? -1);
  }

  /** Waits until a partition is published up to an offset. */
  async isPublished(partition: number, offset: number): Promise<void> {
    await until(
      async () => (await this.published(partition)) >= offset,
      `partition ${partition} is published up to ${offset}`,
    );
  }

  /** Waits until a partition is applied up to an offset. */
  async isApplied(partition: number, offset: number): Promise<void> {
    await until(
      async () => ((await this.instance.status.nextOffsets()).get(partition) ?? 0) >= offset,
      `partition ${partition} is applied up to ${offset}`,
    );
  }
}

/** A new instance with its score topic, for each test of a file. */
export function useScoreTopic({ boards = BOARDS, partitions = 4 } = {}) {
  const made = {} as { instance: TestInstance; log: ScoreTopic };
  const proxies: TcpProxy[] = [];
  beforeEach(async () => {
    made.instance = await TestInstance.create(boards, { partitions });
    made.log = new ScoreTopic(made.instance);
  });
  afterEach(async () => {
    await made.instance.remove();
    for (const proxy of proxies.splice(0)) await proxy.close();
  });
  return Object.assign(made, {
    /** Puts a proxy between Kafka and the processes that start from now on. */
    async throughKafkaProxy(): Promise<KafkaProxy> {
      const proxy = await KafkaProxy.toBroker();
      proxies.push(proxy);
      made.instance.env['KAFKA_BROKERS'] = proxy.broker;
      return proxy;
    },
    /** Puts a proxy between Redis and the processes that start from now on. */
    async throughRedisProxy(): Promise<TcpProxy> {
      const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
      const proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
      proxies.push(proxy);
      made.instance.env['REDIS_URL'] = `redis://127.0.0.1:${proxy.port}`;
      return proxy;
    },
  });
}

/** Checks that this many events have one rank change each. */
export async function expectRankChanges(
  { kafka, topics }: TestInstance,
  count: number,
): Promise<RankChange[]> {
  const changes = await readRankChanges(kafka, topics);
  expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([count, count]);
  return changes;
}

/**
 * As expectRankChanges; checks also that the changes of each player chain. All events of a player
 * must be in one partition.
 */
export async function expectExactChains(instance: TestInstance, count: number): Promise<void> {
  expect(brokenChains(await expectRankChanges(instance, count))).toEqual([]);
}

/** The scores of all players. */
export async function scores({ reader }: TestInstance): Promise<Record<string, number>> {
  const { entries } = await reader.standings('arena', { view: 'all', limit: 1_000 });
  return Object.fromEntries(
    entries.map(({ playerId, columns }) => [playerId, Number(columns['score'])]),
  );
}

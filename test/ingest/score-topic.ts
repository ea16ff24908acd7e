import { Partitioners } from 'kafkajs';
import { until, type TestInstance } from '../support/instance.js';

export const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

/** The score topic of an instance, record by record. */
export class ScoreTopic {
  constructor(private readonly instance: TestInstance) {}

  get name(): string {
    return this.instance.topics.scoreEvents;
  }

  /** One event a player, to a partition of the test's choice; each counts `delta`. */
  async send(partition: number, players: readonly string[], delta = 1): Promise<void> {
    const producer = this.instance.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    const messages = players.map((playerId) => ({
      partition,
      key: playerId,
      value: JSON.stringify({ board: 'arena', playerId, delta }),
    }));
    await producer.send({ topic: this.name, messages });
    await producer.disconnect();
  }

  /** The offset behind the last record, by partition. */
  async ends(): Promise<Map<number, number>> {
    const ends = await this.instance.admin.fetchTopicOffsets(this.name);
    return new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
  }

  /** Deletes what lies before an offset, or all. */
  async cut(partition: number, offset = -1): Promise<void> {
    await this.ends(); // kafkajs must have heard of the topic
    await this.instance.admin.deleteTopicRecords({
      topic: this.name,
      partitions: [{ partition, offset: String(offset) }],
    });
  }

  /** Deletes the topic and makes another one of the same name. */
  async recreate(numPartitions: number): Promise<void> {
    const { admin } = this.instance;
    await admin.deleteTopics({ topics: [this.name] });
    await until(async () => !(await admin.listTopics()).includes(this.name), 'it is deleted');
    const configEntries = [{ name: 'retention.ms', value: '-1' }]; // else no service starts on it
    const topics = [{ topic: this.name, numPartitions, configEntries }];
    await until(
      async () =>
        (await admin.createTopics({ topics }).catch(() => false)) || // it may be there all the same
        (await admin.listTopics()).includes(this.name),
      'it is made anew',
    );
  }

  /** The group's position of a partition. */
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
      async () => ((await this.instance.reader.appliedOffsets()).get(partition) ?? 0) >= offset,
      `partition ${partition} is applied up to ${offset}`,
    );
  }
}

/** The scores of all players. */
export async function scores({ reader }: TestInstance): Promise<Record<string, number>> {
  const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 1_000 });
  return Object.fromEntries(
    entries.map(({ playerId, columns }) => [playerId, Number(columns['score'])]),
  );
}

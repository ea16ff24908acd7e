import { expect } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { TestTopic } from './topic.js';

const CONSUMER = { sessionTimeout: 30_000, heartbeatInterval: 500 };

/** Members of a group that come and go, and what they have read together. */
export class RollingGroup {
  /** All members that ever were. */
  readonly #all: Collector[] = [];
  /** Those that are, the oldest first. */
  readonly #members: Collector[] = [];
  readonly #next = new Map<number, number>();
  readonly #read = new Map<number, string[]>();
  readonly #sent: string[] = [];

  private constructor(
    readonly topic: TestTopic,
    private readonly partitions: readonly number[],
  ) {}

  static async create(count: number): Promise<RollingGroup> {
    const topic = await TestTopic.create(count);
    const partitions = Array.from({ length: count }, (_, partition) => partition);
    return new RollingGroup(topic, partitions);
  }

  get starts(): number {
    return this.#all.reduce((sum, { starts }) => sum + starts, 0);
  }

  get fatal(): Error[] {
    return this.#all.flatMap(({ fatal }) => fatal);
  }

  async join(): Promise<void> {
    const membership = { protocol: 'ours', userData: '', refusal: () => new Error('no others') };
    const member = new Collector(this.topic, { membership, consumer: CONSUMER });
    member.find = (partition) => Promise.resolve(this.#next.get(partition) ?? 0);
    member.before = ({ partition, records, nextOffset }) => {
      const values = records.map(({ value }) => String(value));
      this.#read.set(partition, [...(this.#read.get(partition) ?? []), ...values]);
      this.#next.set(partition, nextOffset);
      return Promise.resolve();
    };
    this.#all.push(member);
    this.#members.push(member);
    await member.start();
  }

  /** The oldest member leaves. */
  async leave(): Promise<void> {
    await this.#members.shift()?.consumer.close();
  }

  /** The members that run each partition. */
  owners(): Map<number, Collector> {
    const owners = new Map<number, Collector>();
    for (const member of this.#members)
      for (const [partition, { state }] of member.consumer.health().partitions)
        if (state === 'running') owners.set(partition, member);
    return owners;
  }

  /**
   * Waits until the members have equal shares; then each partition must deliver a record, once and
   * in order.
   */
  async settle(): Promise<void> {
    const share = this.partitions.length / this.#members.length;
    await until(() => {
      const counts = this.#members.map(({ consumer }) => consumer.health().partitions.size);
      const isShared = counts.every((n) => n >= Math.floor(share) && n <= Math.ceil(share));
      return isShared && this.owners().size === this.partitions.length;
    }, 'the members share the partitions');
    const value = `turn ${this.#sent.length}`;
    this.#sent.push(value);
    await this.topic.produce(this.partitions.map((partition) => ({ partition, value })));
    const isRead = (partition: number) => this.#read.get(partition)?.at(-1) === value;
    await until(() => this.partitions.every(isRead), 'all partitions are read');
    for (const partition of this.partitions) expect(this.#read.get(partition)).toEqual(this.#sent);
  }
}

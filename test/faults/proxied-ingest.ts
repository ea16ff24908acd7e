import { expect } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PLAYERS = 50;

/**
 * A ranklog that reaches Kafka through a proxy, and its score events: one point each, for 50
 * players in turn.
 */
export class ProxiedIngest {
  sent = 0;

  private constructor(
    readonly instance: TestInstance,
    readonly proxy: KafkaProxy,
    private readonly producer: ScoreProducer,
  ) {}

  static async create({ partitions }: { partitions: number }): Promise<ProxiedIngest> {
    const proxy = await KafkaProxy.toBroker();
    const instance = await TestInstance.create(BOARDS, { partitions });
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    return new ProxiedIngest(instance, proxy, producer);
  }

  start(): Promise<RanklogProcess> {
    return this.instance.start();
  }

  /** Sends events, in order for each player. */
  async produce(count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, index) => this.sent + index);
    const players = numbers.map((number) => `player-${number % PLAYERS}`);
    await this.producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    this.sent += count;
  }

  /** Waits until all events that are sent by now are published. */
  published(): Promise<void> {
    return this.instance.published(this.sent);
  }

  /** Checks that every event counts once and has one rank change, also for Kafka's own consumer. */
  async expectExactlyOnce(): Promise<void> {
    await this.published();
    const { kafka, topics, reader } = this.instance;
    const changes = await readRankChanges(kafka, topics);
    const once = [this.sent, this.sent];
    expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual(once);
    expect(brokenChains(changes)).toEqual([]);
    const ids = await consoleConsumerIds(topics.rankChanges, this.sent);
    expect([new Set(ids).size, ids.length]).toEqual(once);
    const { entries } = await reader.standings('arena', { view: 'all', limit: PLAYERS });
    const scores = entries.map(({ columns }) => Number(columns['score']));
    expect(scores.reduce((sum, score) => sum + score, 0)).toBe(this.sent);
  }

  async remove(): Promise<void> {
    await this.producer.disconnect();
    await this.instance.remove();
    await this.proxy.close();
  }
}

// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import { patchKafkajs } from '#kafka-batch';
import { score } from './log.mjs';

const TICK_MS = 10;
const LONGEST_WAIT_MS = 30_000;

/**
 * @typedef {{ events: number, p50: number, p95: number, p99: number, worst: number }} Latencies in
 * ms
 */

/**
 * Connects a consumer, and passes on each record of a topic from its beginning on.
 * @param {import('kafkajs').Consumer} consumer @param {string} topic
 * @param {(message: import('kafkajs').KafkaMessage) => void} hear
 */
export async function hearAll(consumer, topic, hear) {
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      hear(message);
      return Promise.resolve();
    },
  });
}

/**
 * Sends score events at a steady rate, and receives their results as a read_committed subscriber.
 */
export class LiveTraffic {
  #consumer;
  #producer;
  /** @type {Map<string, number>} */
  #sent = new Map();
  /** @type {number[]} */
  #latencies = [];

  #number = 0;

  /** @param {import('./sandbox.mjs').Sandbox} sandbox @param {{ players: number }} options */
  constructor({ kafka, topics, name }, { players }) {
    patchKafkajs();
    this.topics = topics;
    this.players = players;
    this.#producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    this.#consumer = kafka.consumer({ groupId: `${name}-subscriber` });
  }

  async open() {
    await this.#producer.connect();
    await hearAll(this.#consumer, this.topics.rankChanges, (message) => this.#hear(message));
  }

  /**
   * Measures the time from an event to its result, for all events that are sent while the work goes
   * on.
   * @param {number} eventsPerSecond @param {() => Promise<unknown>} work @returns
   * {Promise<Latencies>}
   */
  async during(eventsPerSecond, work) {
    this.#latencies = [];
    let working = true;
    const [worked] = await Promise.allSettled([
      work().finally(() => (working = false)),
      this.#send(eventsPerSecond, () => working),
    ]);
    if (worked.status === 'rejected') throw worked.reason;
    await this.#allHeard();
    return summary(this.#latencies);
  }

  async close() {
    await this.#producer.disconnect();
    await this.#consumer.disconnect();
  }

  /**
   * Sends by the clock, without waiting for Kafka: slow answers must not slow the traffic. @param
   * {number} eventsPerSecond @param {() => boolean} goesOn
   */
  async #send(eventsPerSecond, goesOn) {
    const begin = performance.now();
    let sent = 0;
    /** @type {Promise<unknown>[]} */
    const under = [];
    while (goesOn()) {
      const due = Math.floor(((performance.now() - begin) * eventsPerSecond) / 1_000);
      if (due > sent) under.push(this.#sendSome(due - sent));
      sent = Math.max(sent, due);
      await delay(TICK_MS);
    }
    await Promise.all(under);
  }

  /** @param {number} count */
  async #sendSome(count) {
    const messages = Array.from({ length: count }, () => {
      const eventId = `live-${this.#number++}`;
      this.#sent.set(eventId, performance.now());
      return score(this.#number, this.players, new Date(), eventId);
    });
    await this.#producer.send({ topic: this.topics.scoreEvents, messages });
  }

  /** @param {import('kafkajs').KafkaMessage} message */
  #hear({ value }) {
    const { eventId = '' } = /** @type {{ eventId?: string }} */ (JSON.parse(String(value)));
    const sent = this.#sent.get(eventId);
    if (sent === undefined) return;
    this.#latencies.push(performance.now() - sent);
    this.#sent.delete(eventId);
  }

  async #allHeard() {
    const end = performance.now() + LONGEST_WAIT_MS;
    while (this.#sent.size > 0) {
      if (performance.now() > end) throw new Error(`${this.#sent.size} rank changes are late`);
      await delay(TICK_MS);
    }
  }
}

/** @param {number[]} latencies @returns {Latencies} */
function summary(latencies) {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { events: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), worst: at(1) };
}

// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '#errors';
import { partitionOf, patchKafkajs } from '#kafka-batch';
import { hearAll } from '../live-traffic.mjs';

const TICK_MS = 10;
const PLAYERS_PER_PARTITION = 20;
const LONGEST_WAIT_MS = 180_000;

/**
 * @typedef {object} Sent
 * @property {string} playerId
 * @property {number} delta
 * @property {number} time of the event, in ms
 * @property {number} sentAt when Kafka had it, by performance.now(); before that, when it was due
 * @property {number} [seenAt] when its result was visible, by performance.now()
 */
/**
 * @typedef {{ eventId: string, playerId: string, before: string, after: string }} Seen a result,
 * and the player's points around it
 */

/**
 * Sends score events to every partition at the same steady rate, and receives their results as a
 * read_committed subscriber.
 */
export class PartitionTraffic {
  #producer;
  #consumer;
  /** @type {string[][]} players by partition */
  #players;
  /** @type {Sent[][]} events by partition, in the order of the log */
  events;
  /** @type {Seen[]} results, in the order of each partition */
  results = [];
  #intervalMs;
  #isSending = false;
  /** @type {Promise<void> | undefined} */
  #sending;
  /** @type {Error | undefined} of sending */
  #failure;

  /**
   * @param {import('../sandbox.mjs').Sandbox} sandbox @param {number} eventsPerSecond of all
   * partitions
   */
  constructor({ kafka, topics, name, partitions }, eventsPerSecond) {
    patchKafkajs();
    this.topics = topics;
    // Idempotent: a retry of the producer would be another event.
    this.#producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    this.#consumer = kafka.consumer({ groupId: `${name}-subscriber`, maxWaitTimeInMs: 100 });
    this.#players = playersOf(partitions);
    this.events = this.#players.map(() => /** @type {Sent[]} */ ([]));
    this.#intervalMs = (1_000 * partitions) / eventsPerSecond;
  }

  async open() {
    await this.#producer.connect();
    await hearAll(this.#consumer, this.topics.rankChanges, ({ value }) =>
      this.#hear(String(value)),
    );
    this.#isSending = true;
    this.#sending = this.#send();
    this.#sending.catch((/** @type {unknown} */ error) => void (this.#failure = toError(error)));
  }

  /** Waits until a result is visible in every partition of an event that is sent from now on. */
  async flows() {
    const begin = performance.now();
    await this.#until(() =>
      this.events.every((sent) => (sent.findLast(isSeen)?.sentAt ?? 0) > begin),
    );
  }

  /** Sends no more, and waits for the last results. */
  async finish() {
    this.#isSending = false;
    await this.#sending;
    await this.#until(() => this.events.every((sent) => sent.every(isSeen)));
  }

  async close() {
    this.#isSending = false;
    await this.#sending?.catch(() => undefined); // the first error is thrown
    await this.#producer.disconnect();
    await this.#consumer.disconnect();
  }

  /**
   * By partition: the longest time between the results of consecutive events, without the time
   * between these events.
   * @param {number} from @param {number} to when results were visible, by performance.now()
   */
  pauses(from, to) {
    return this.events.map((sent) => {
      let longest = 0;
      for (const [index, { sentAt, seenAt = Infinity }] of sent.entries()) {
        const before = sent[index - 1];
        if (before?.seenAt === undefined || seenAt < from || seenAt > to) continue;
        longest = Math.max(longest, seenAt - before.seenAt - (sentAt - before.sentAt));
      }
      return longest;
    });
  }

  /** Sends by the clock. The partitions take turns. */
  async #send() {
    const partitions = this.events.length;
    const begin = performance.now();
    let number = 0;
    while (this.#isSending) {
      await delay(TICK_MS);
      const due = [];
      const dueAt = () => begin + (number * this.#intervalMs) / partitions;
      for (; dueAt() <= performance.now(); number++)
        due.push(this.#next(number % partitions, dueAt()));
      if (due.length === 0) continue;
      const messages = due.map(({ message }) => message);
      await this.#producer.send({ topic: this.topics.scoreEvents, messages });
      for (const { event } of due) event.sentAt = performance.now();
    }
  }

  /** @param {number} partition @param {number} sentAt */
  #next(partition, sentAt) {
    const sent = this.events[partition] ?? [];
    const players = this.#players[partition] ?? [];
    const index = sent.length;
    const playerId = players[(index * 7) % players.length] ?? '';
    const event = { playerId, delta: 1 + ((index * 37) % 100), time: Date.now(), sentAt };
    sent.push(event);
    const { delta, time } = event;
    const eventId = `${partition}-${index}`;
    const occurredAt = new Date(time).toISOString();
    const value = JSON.stringify({ board: 'arena', playerId, delta, occurredAt, eventId });
    return { event, message: { key: playerId, partition, value } };
  }

  /** @param {string} text of a rank change */
  #hear(text) {
    /** @typedef {{ columns: { score: string } }} Place */
    /**
     * @typedef {{ eventId: string, playerId: string, changes: { before: Place | null, after: Place
     * }[] }} RankChange
     */
    const { eventId, playerId, changes } = /** @type {RankChange} */ (JSON.parse(text));
    const { before = null, after } = changes[0] ?? {};
    const [partition, index] = eventId.split('-').map(Number);
    const sent = this.events[partition ?? NaN]?.[index ?? NaN];
    if (sent !== undefined) sent.seenAt ??= performance.now();
    const points = { before: before?.columns.score ?? '0', after: after?.columns.score ?? '' };
    this.results.push({ eventId, playerId, ...points });
  }

  /** @param {() => boolean} condition */
  async #until(condition) {
    const end = performance.now() + LONGEST_WAIT_MS;
    while (!condition()) {
      if (this.#failure !== undefined) throw this.#failure;
      if (performance.now() > end) throw new Error(`results are late: ${this.#late()}`);
      await delay(TICK_MS);
    }
  }

  #late() {
    const late = this.events.map((sent) => sent.filter((event) => !isSeen(event)).length);
    return late.map((count, partition) => `${partition}: ${count}`).join(', ');
  }
}

/** @param {Sent} event */
function isSeen({ seenAt }) {
  return seenAt !== undefined;
}

/** Ids of players whose events belong to each partition. @param {number} partitions */
function playersOf(partitions) {
  const players = Array.from({ length: partitions }, () => /** @type {string[]} */ ([]));
  for (let number = 0; players.some(({ length }) => length < PLAYERS_PER_PARTITION); number++) {
    const id = `player-${number}`;
    const some = players[partitionOf(id, partitions)];
    if (some !== undefined && some.length < PLAYERS_PER_PARTITION) some.push(id);
  }
  return players;
}

// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';

export const PLAYERS = 1_000;

/** @param {number} index */
export const playerId = (index) => `player-${index}`;

/** Sends score events. Each one takes its player to the top. */
export class Scores {
  /** @type {string[]} */
  players = [];
  #turn = 0;
  #producer;

  /** @param {import('../sandbox.mjs').Sandbox} sandbox */
  constructor({ kafka, topics }) {
    this.topic = topics.scoreEvents;
    this.#producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  }

  /** Connects, and gives every player a score. */
  async open() {
    await this.#producer.connect();
    const messages = Array.from({ length: PLAYERS }, (_, index) => this.#score(playerId(index)));
    await this.#producer.send({ topic: this.topic, messages });
  }

  /**
   * Sends by the clock, without waiting for Kafka; random players, which are noted in `players`.
   * @param {import('./streams.mjs').Load} load
   */
  async send({ rate, seconds }) {
    const begin = performance.now();
    const sends = [];
    for (let sent = 0; sent < rate * seconds; sent++) {
      await delay(Math.max(0, begin + (sent * 1_000) / rate - performance.now()));
      const player = playerId(Math.floor(Math.random() * PLAYERS));
      this.players.push(player);
      sends.push(this.#producer.send({ topic: this.topic, messages: [this.#score(player)] }));
    }
    await Promise.all(sends);
  }

  async close() {
    await this.#producer.disconnect();
  }

  /** @param {string} player @returns {import('kafkajs').Message} */
  #score(player) {
    const occurredAt = new Date().toISOString();
    const event = { board: 'arena', playerId: player, delta: String(++this.#turn), occurredAt };
    return { key: player, value: JSON.stringify(event) };
  }
}

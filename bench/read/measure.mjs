// @ts-check
import { redisCpu } from '../apply/measure.mjs';

/** @typedef {import('./queries.mjs').Query} Query */
/** @typedef {import('./queries.mjs').Queries} Queries */
/** @typedef {{ p50: number, p99: number, client: number, server: number }} Figures in us; CPU is per request */

const ROUNDS = 8;

/**
 * Runs each query of both sides in turn, one request after the other, in rounds with the same random players, ranks and scores.
 * @param {import('ioredis').Redis} redis @param {{ players: number, requests: number }} size
 * @param {Queries} queries @param {Queries} bareQueries
 * @returns {Promise<{ query: string, reader: Figures, bare: Figures }[]>}
 */
export async function compare(redis, { players, requests }, queries, bareQueries) {
  const rows = [];
  for (const [query, ask] of Object.entries(queries)) {
    const askBare = bareQueries[query];
    if (askBare === undefined) throw new Error(`there are no bare commands for "${query}"`);
    const sides = [new Side(redis, ask), new Side(redis, askBare)];
    for (let round = 0; round <= ROUNDS; round++) {
      const inputs = Array.from({ length: Math.ceil(requests / ROUNDS) }, () => random(players));
      for (const side of sides) await side.run(inputs, round > 0);
    }
    const [reader, bare] = sides.map((side) => side.figures());
    if (reader !== undefined && bare !== undefined) rows.push({ query, reader, bare });
  }
  return rows;
}

/** @typedef {Parameters<Query>} Input @param {number} players @returns {Input} */
function random(players) {
  const any = () => Math.floor(Math.random() * players);
  return [`player-${any()}`, any() + 1, any()];
}

/** One way to answer a query, with its latencies and CPU. The first round only warms up. */
class Side {
  /** @type {number[]} */
  #latencies = [];
  #client = 0;
  #server = 0;

  /** @param {import('ioredis').Redis} redis @param {Query} ask */
  constructor(redis, ask) {
    this.redis = redis;
    this.ask = ask;
  }

  /** @param {readonly Input[]} inputs @param {boolean} counts */
  async run(inputs, counts) {
    const server = await redisCpu(this.redis);
    const client = process.cpuUsage();
    /** @type {number[]} */
    const latencies = [];
    for (const input of inputs) {
      const begin = performance.now();
      await this.ask(...input);
      latencies.push((performance.now() - begin) * 1_000);
    }
    const { user, system } = process.cpuUsage(client);
    if (!counts) return;
    this.#client += user + system;
    this.#server += (await redisCpu(this.redis)) - server;
    this.#latencies.push(...latencies);
  }

  /** @returns {Figures} */
  figures() {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const at = (/** @type {number} */ share) => sorted[Math.floor(sorted.length * share)] ?? NaN;
    const count = sorted.length;
    return {
      p50: at(0.5),
      p99: at(0.99),
      client: this.#client / count,
      server: this.#server / count,
    };
  }
}

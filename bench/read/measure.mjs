// @ts-check
import { median, redisCpu } from '../apply/measure.mjs';
import { bareQueries, randomInput, readerQueries } from './queries.mjs';

/** @typedef {import('./queries.mjs').Query} Query */
/** @typedef {import('./filled-board.mjs').FilledBoard} FilledBoard */
/**
 * @typedef {{ p50: number, p99: number, client: number, server: number }} Figures in us; CPU is per
 * request, the median of the rounds
 */
/**
 * @typedef {{ players: number, reader: Figures, bare: Figures }} Comparison on a board of so many
 * players
 */

const ROUNDS = 20;

/**
 * Runs each query of both sides on each board in turn, one request after the other, in rounds; both
 * sides of a board get the same random players, ranks and scores.
 * @param {readonly FilledBoard[]} boards @param {number} requests
 * @returns {Promise<{ query: string, boards: Comparison[] }[]>}
 */
export async function compare(boards, requests) {
  const contests = boards.map((board) => ({
    ...{ players: board.players, redis: board.redis },
    ...{ queries: readerQueries(board.reader), bare: bareQueries(board.redis, board.zset) },
  }));
  const rows = [];
  for (const query of Object.keys(contests[0]?.queries ?? {})) {
    const pairs = contests.map(({ players, redis, queries, bare }) => ({
      players,
      reader: new Side(redis, named(queries, query)),
      bare: new Side(redis, named(bare, query)),
    }));
    for (let round = 0; round <= ROUNDS; round++)
      for (const { players, reader, bare } of pairs) {
        const count = Math.ceil(requests / ROUNDS);
        const inputs = Array.from({ length: count }, () => randomInput(players));
        for (const side of [reader, bare]) await side.run(inputs, round > 0);
      }
    const figures = pairs.map(({ players, reader, bare }) => ({
      ...{ players, reader: reader.figures(), bare: bare.figures() },
    }));
    rows.push({ query, boards: figures });
  }
  return rows;
}

/** @param {import('./queries.mjs').Queries} queries @param {string} query */
function named(queries, query) {
  const ask = queries[query];
  if (ask === undefined) throw new Error(`there are no bare commands for "${query}"`);
  return ask;
}

/** @param {Figures} figures */
export function cpuOf({ client, server }) {
  return client + server;
}

/** One way to answer a query, with its latencies and CPU. The first round only warms up. */
class Side {
  /** @type {number[]} */
  #latencies = [];
  /** @type {number[]} */
  #client = [];
  /** @type {number[]} */
  #server = [];

  /** @param {import('ioredis').Redis} redis @param {Query} ask */
  constructor(redis, ask) {
    this.redis = redis;
    this.ask = ask;
  }

  /** @param {readonly import('./queries.mjs').Input[]} inputs @param {boolean} counts */
  async run(inputs, counts) {
    const server = await redisCpu(this.redis);
    const client = process.cpuUsage();
    /** @type {number[]} */
    const latencies = [];
    for (const input of inputs) {
      const begin = performance.now();
      await this.ask(input);
      latencies.push((performance.now() - begin) * 1_000);
    }
    const { user, system } = process.cpuUsage(client);
    if (!counts) return;
    this.#client.push((user + system) / inputs.length);
    this.#server.push(((await redisCpu(this.redis)) - server) / inputs.length);
    this.#latencies.push(...latencies);
  }

  /** @returns {Figures} */
  figures() {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const at = (/** @type {number} */ share) => sorted[Math.floor(sorted.length * share)] ?? NaN;
    return {
      p50: at(0.5),
      p99: at(0.99),
      client: median(this.#client),
      server: median(this.#server),
    };
  }
}

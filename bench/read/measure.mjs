// @ts-check
import { median, redisCpu } from '../apply/measure.mjs';
import { bareQueries, randomInput, readerQueries } from './queries.mjs';

/** @typedef {import('./queries.mjs').Query} Query */
/** @typedef {import('./filled-board.mjs').FilledBoard} FilledBoard */
/**
 * All in us. CPU is per request, the median of the rounds.
 * @typedef {object} Figures
 * @property {number} p50 latency
 * @property {number} p99 latency
 * @property {number} client CPU of this process
 * @property {number} server CPU of Redis
 */
/**
 * @typedef {object} Comparison
 * @property {number} players of the board
 * @property {Figures} reader
 * @property {Figures} bare
 */

const ROUNDS = 20;

/**
 * Compares each query of the reader with its bare commands. In each round, the boards take turns,
 * and so do the two sides of a board: both get the same random players, ranks and scores. A request
 * is sent when the one before it is answered.
 * @param {readonly FilledBoard[]} boards @param {number} requests
 * @returns {Promise<{ query: string, boards: Comparison[] }[]>}
 */
export async function compare(boards, requests) {
  const contests = boards.map((board) => ({
    players: board.players,
    redis: board.redis,
    readerQueries: readerQueries(board.reader),
    bareQueries: bareQueries(board.redis, board.zset),
  }));
  const perRound = Math.ceil(requests / ROUNDS);
  const rows = [];
  for (const query of Object.keys(contests[0]?.readerQueries ?? {})) {
    const pairs = contests.map((contest) => ({
      players: contest.players,
      reader: new Side(contest.redis, named(contest.readerQueries, query)),
      bare: new Side(contest.redis, named(contest.bareQueries, query)),
    }));
    for (let round = 0; round <= ROUNDS; round++) {
      const counts = round > 0; // the first round only warms up
      for (const { players, reader, bare } of pairs) {
        const inputs = Array.from({ length: perRound }, () => randomInput(players));
        await reader.run(inputs, counts);
        await bare.run(inputs, counts);
      }
    }
    const comparisons = pairs.map(({ players, reader, bare }) => ({
      players,
      reader: reader.figures(),
      bare: bare.figures(),
    }));
    rows.push({ query, boards: comparisons });
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

/** One way to answer a query, with its latencies and CPU. */
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

  /**
   * @param {readonly import('./queries.mjs').Input[]} inputs
   * @param {boolean} counts whether to keep the measurements
   */
  async run(inputs, counts) {
    const serverBefore = await redisCpu(this.redis);
    const clientBefore = process.cpuUsage();
    /** @type {number[]} */
    const latencies = [];
    for (const input of inputs) {
      const begin = performance.now();
      await this.ask(input);
      latencies.push((performance.now() - begin) * 1_000);
    }
    const { user, system } = process.cpuUsage(clientBefore);
    if (!counts) return;

    const serverAfter = await redisCpu(this.redis);
    this.#client.push((user + system) / inputs.length);
    this.#server.push((serverAfter - serverBefore) / inputs.length);
    this.#latencies.push(...latencies);
  }

  /** @returns {Figures} */
  figures() {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const percentile = (/** @type {number} */ share) =>
      sorted[Math.floor(sorted.length * share)] ?? NaN;
    return {
      p50: percentile(0.5),
      p99: percentile(0.99),
      client: median(this.#client),
      server: median(this.#server),
    };
  }
}

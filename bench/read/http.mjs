// @ts-check
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { cpuOf } from '../machine.mjs';
import { BenchProcess, REPORTS_MEMORY } from '../process.mjs';
import { cliOf } from '../ranklog.mjs';

const CONSTANT = fileURLToPath(new URL('./constant.mjs', import.meta.url));
const CONNECTIONS = 100;

/**
 * @typedef {{ rate: number, p50: number, p99: number, cpu: number }} Figures requests per second,
 * ms, us of CPU of the server per request
 */

/** A server in its own process, which prints its address. */
export class Server {
  /** @param {BenchProcess} process @param {string} url */
  constructor(process, url) {
    this.process = process;
    this.url = url;
  }

  /** `ranklog start` with the role `query`. @param {NodeJS.ProcessEnv} env */
  static ranklog(env) {
    const json = { ...env, RANKLOG_LOG_FORMAT: 'json', RANKLOG_LOG_LEVEL: 'info' };
    const args = [...REPORTS_MEMORY, cliOf(), 'start', '--roles', 'query'];
    return Server.#start(args, json, 'stderr');
  }

  /** A Fastify server that answers every request with the same text. @param {string} body */
  static constant(body) {
    return Server.#start([CONSTANT], { ...process.env, BODY: body }, 'stdout');
  }

  /**
   * @param {string[]} args @param {NodeJS.ProcessEnv} env @param {'stdout' | 'stderr'} output
   * @returns {Promise<Server>}
   */
  static async #start(args, env, output) {
    const process = new BenchProcess(args, env);
    const [url] = await process.line(/(?<!metrics at )http:\/\/[\d.]+:\d+/, output);
    return new Server(process, url);
  }

  /**
   * Sends requests for some paths, in turn, for some seconds, from 100 connections.
   * @param {readonly string[]} paths @param {number} seconds @returns {Promise<Figures>}
   */
  async load(paths, seconds) {
    const run = (/** @type {number} */ duration) =>
      autocannon({
        ...{ url: this.url, connections: CONNECTIONS, duration },
        requests: paths.map((path) => ({ path })),
      });
    await run(1); // warms up
    const before = this.cpu();
    const { requests, latency, non2xx, errors } = await run(seconds);
    if (non2xx + errors > 0)
      throw new Error(`${non2xx} refusals and ${errors} errors for ${paths[0]}`);
    const cpu = (this.cpu() - before) / requests.total;
    return { rate: requests.average, p50: latency.p50, p99: latency.p99, cpu };
  }

  /** us of CPU that the process has used, in steps of 10 ms. */
  cpu() {
    return cpuOf(this.process.pid);
  }

  /** Of a ranklog. */
  memory() {
    return this.process.memory();
  }

  async stop() {
    await this.process.end('SIGTERM');
  }
}

/**
 * Compares answers of ranklog with a constant of the same size.
 * @param {NodeJS.ProcessEnv} env of a ranklog whose Redis holds the board `bench` @param {{
 * players: number, seconds: number }} size
 */
export async function compareHttp(env, { players, seconds }) {
  const random = () => `/v1/boards/bench/players/player-${Math.floor(Math.random() * players)}`;
  const cases = [
    { name: 'top 100, uncached', cache: '0', paths: ['/v1/boards/bench/standings'] },
    { name: 'top 100, cached', cache: '250ms', paths: ['/v1/boards/bench/standings'] },
    { name: 'a player, uncached', cache: '0', paths: Array.from({ length: 500 }, random) },
  ];
  const rows = [];
  for (const { name, cache, paths } of cases) {
    const ranklog = await Server.ranklog({ ...env, RANKLOG_QUERY_CACHE: cache });
    const body = await (await fetch(ranklog.url + (paths[0] ?? ''))).text();
    const constant = await Server.constant(body);
    try {
      const own = await ranklog.load(paths, seconds);
      rows.push({
        name,
        bytes: body.length,
        ranklog: own,
        constant: await constant.load(['/'], seconds),
      });
    } finally {
      await Promise.all([ranklog.stop(), constant.stop()]);
    }
  }
  return rows;
}

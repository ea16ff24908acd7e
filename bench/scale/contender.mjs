// @ts-check
import { cpuOf, peakRssOf, serverPids } from '../machine.mjs';
import { BenchProcess } from '../process.mjs';
import { checkScores, cliOf } from '../ranklog.mjs';
import { Sandbox } from '../sandbox.mjs';
import { boardNames, boardsFileOf, bytesPerRecord, sendManyBoards, totalsOf } from './load.mjs';
import { RedisServers } from './servers.mjs';

/** @typedef {import('./load.mjs').Load} Load */
/** @typedef {import('./servers.mjs').Usage} Usage */
/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {number} nodes of a cluster; 0 for a single server
 * @property {number} shards
 * @property {Partial<Load>} [load] where it differs from that of the others
 */
/**
 * What an event costs.
 * @typedef {object} Figures
 * @property {number[]} own us of CPU of each process of ranklog
 * @property {number[]} redis of each Redis
 * @property {number} kafka of Kafka
 * @property {number} calls to Redis
 * @property {number} received bytes that Redis gets
 * @property {number} sent bytes that Redis sends
 * @property {number} written bytes of the append-only file
 */

/** Processes of ranklog on Redis servers of their own, which get the load in slices. */
export class Contender {
  #servers = new RedisServers();
  /** @type {Sandbox | undefined} */
  #sandbox;
  /** @type {BenchProcess[]} */
  #services = [];
  #sent = 0;
  #slices = 0;
  /** @type {Usage[]} */
  #empty = [];

  /** @param {Variant} variant @param {Load} load */
  constructor(variant, load) {
    this.variant = variant;
    this.load = load;
  }

  /** @param {number} processes */
  async start(processes) {
    const { load, variant } = this;
    await this.#servers.start(variant.nodes);
    const sandbox = new Sandbox({ partitions: load.partitions, redisUrl: this.#servers.url });
    this.#sandbox = sandbox;
    await sandbox.open();
    this.#empty = await this.#servers.usage();
    const shards = String(variant.shards);
    const env = { ...sandbox.env(boardsFileOf(load)), RANKLOG_SHARDS: shards };
    this.#services = Array.from({ length: processes }, () => {
      return new BenchProcess([cliOf(), 'start'], env);
    });
  }

  /** Measures the next events of the load, which come all at once. @returns {Promise<Figures>} */
  async slice() {
    const { load } = this;
    const release = await sendManyBoards(this.#opened, load, this.#sent);
    this.#sent += load.events;
    const from = await this.#mark();
    await release();
    // The end of each earlier transaction has an offset
    const markers = this.#slices * load.partitions;
    this.#slices += 1;
    await this.#opened.reached(
      this.#sent + markers,
      /** @type {BenchProcess} */ (this.#services[0]),
    );
    const to = await this.#mark();
    const perEvent = (/** @type {'calls' | 'received' | 'sent' | 'written'} */ what) =>
      growthOf(what, from.redis, to.redis) / load.events;
    return {
      own: to.own.map((cpu, index) => (cpu - (from.own[index] ?? NaN)) / load.events),
      redis: to.redis.map(({ cpu }, index) => {
        return (cpu - (from.redis[index]?.cpu ?? NaN)) / load.events;
      }),
      kafka: (to.kafka - from.kafka) / load.events,
      calls: perEvent('calls'),
      received: perEvent('received'),
      sent: perEvent('sent'),
      written: perEvent('written'),
    };
  }

  /**
   * Checks the boards. Returns bytes of Redis per player and view, bytes of a score event and of
   * its result, and the largest RSS of a process in MB.
   */
  async end() {
    const { load, variant } = this;
    const sandbox = this.#opened;
    const expected = totalsOf({ ...load, events: this.#sent });
    await checkScores(sandbox, expected, boardNames(load), variant.shards);
    const rss = Math.max(...this.#services.map(({ pid }) => peakRssOf(pid)));
    await this.#stop();
    const memory = growthOf('memory', this.#empty, await this.#servers.usage());
    return {
      memory: memory / expected.players / load.views,
      score: await bytesPerRecord(sandbox, sandbox.topics.scoreEvents),
      result: await bytesPerRecord(sandbox, sandbox.topics.rankChanges),
      rss,
    };
  }

  async remove() {
    await this.#stop();
    await this.#sandbox?.remove();
    await this.#servers.remove();
  }

  async #stop() {
    await Promise.all(this.#services.map((service) => service.end('SIGTERM')));
  }

  async #mark() {
    return {
      own: this.#services.map(({ pid }) => cpuOf(pid)),
      kafka: cpuOf(serverPids().kafka),
      redis: await this.#servers.usage(),
    };
  }

  get #opened() {
    if (this.#sandbox === undefined) throw new Error('the contender was not started');
    return this.#sandbox;
  }
}

/** @param {keyof Usage} what @param {Usage[]} from @param {Usage[]} to */
function growthOf(what, from, to) {
  return to.reduce((sum, node, index) => sum + node[what] - (from[index]?.[what] ?? NaN), 0);
}

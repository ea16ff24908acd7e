// @ts-check
import { cpuOf, peakRssOf, serverPids } from '../machine.mjs';
import { BenchProcess } from '../process.mjs';
import { checkScores, cliOf } from '../ranklog.mjs';
import { Sandbox } from '../sandbox.mjs';
import {
  boardNames,
  boardsFileOf,
  bytesPerRecord,
  commitEvents,
  sendHeldEvents,
  totalsOf,
} from './load.mjs';
import { RedisServers } from './servers.mjs';

/** @typedef {import('./load.mjs').Load} Load */
/** @typedef {import('./servers.mjs').Usage} Usage */
/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {number} nodes of a cluster; 0 for a single server
 * @property {number} shards
 * @property {Partial<Load>} [load] the fields that differ from the load of the other variants
 */
/**
 * The cost of one event. CPU is in us.
 * @typedef {object} Figures
 * @property {number[]} own CPU of each process of ranklog
 * @property {number[]} redis CPU of each Redis
 * @property {number} kafka CPU of Kafka
 * @property {number} calls to Redis
 * @property {number} received bytes that Redis gets
 * @property {number} sent bytes that Redis sends
 * @property {number} written bytes of the append-only file
 */

/** Ranklog, one process or more, on Redis servers of its own. It gets the load in slices. */
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

  /**
   * Measures the next `load.events` events, which ranklog sees at one moment.
   * @returns {Promise<Figures>}
   */
  async slice() {
    const { load } = this;
    const held = await sendHeldEvents(this.#opened, load, this.#sent);
    this.#sent += load.events;
    const from = await this.#mark();
    await commitEvents(held);

    // Each earlier transaction ended with a control record, which has an offset in each partition
    const markers = this.#slices * load.partitions;
    this.#slices += 1;
    const service = /** @type {BenchProcess} */ (this.#services[0]);
    await this.#opened.reached(this.#sent + markers, service);
    const to = await this.#mark();

    const perEvent = (/** @type {'calls' | 'received' | 'sent' | 'written'} */ what) =>
      growthOf(what, from.redis, to.redis) / load.events;
    return {
      own: to.own.map((cpu, index) => (cpu - (from.own[index] ?? NaN)) / load.events),
      redis: to.redis.map(
        ({ cpu }, index) => (cpu - (from.redis[index]?.cpu ?? NaN)) / load.events,
      ),
      kafka: (to.kafka - from.kafka) / load.events,
      calls: perEvent('calls'),
      received: perEvent('received'),
      sent: perEvent('sent'),
      written: perEvent('written'),
    };
  }

  /**
   * Checks the boards, and stops ranklog.
   * @returns {Promise<{ memory: number, score: number, result: number, rss: number }>} `memory`:
   * bytes of Redis per player and view; `score`, `result`: bytes of a score event and of its
   * result; `rss`: the largest peak of a process, in MB
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

  /** Takes the figures that only grow. A slice costs what they have grown by. */
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

/**
 * How much a figure has grown, on all servers together.
 * @param {keyof Usage} what @param {Usage[]} from @param {Usage[]} to
 */
function growthOf(what, from, to) {
  return to.reduce((sum, node, index) => sum + node[what] - (from[index]?.[what] ?? NaN), 0);
}

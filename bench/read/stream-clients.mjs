// @ts-check
// Child of bench/read/streams.mjs: many event streams on one server.
import { once } from 'node:events';
import { connect } from 'node:net';

/** @typedef {'top' | 'player' | 'board'} Kind what a stream shows */
/** @typedef {{ kind: Kind, path: string }} Target */
/**
 * @typedef {{ open?: { url: string, targets: Target[] }, begin?: number }} Order `begin`: events
 * from before (in ms) are not measured
 */
/**
 * @typedef {{ kind: Kind, streams: number, dropped: number, arrivals: number, p50: number, p99:
 * number }} Heard latencies in ms
 */
/**
 * @typedef {{ cpu: number, heard: Heard[] }} Report us of CPU time since the last report, and what
 * arrived since `begin`
 */

const KINDS = /** @type {const} */ (['top', 'player', 'board']);
const CONNECTING = 50;
/** When the events in the data of a stream happened: in all entries, or in the rank change. */
const TIMES = { top: /"reachedAt":"([^"]+)"/g, rankChange: /"occurredAt":"([^"]+)"/g };

/** One event stream, without a library, as the clients share the CPUs with the server. */
class Client {
  /** @type {number[]} */
  latencies = [];
  #pending = '';
  #newest = 0;

  /** @param {string} url @param {Target} target */
  constructor(url, { path, kind }) {
    const { hostname, port } = new URL(url);
    this.kind = kind;
    this.times = kind === 'top' ? TIMES.top : TIMES.rankChange;
    this.socket = connect(Number(port), hostname).setEncoding('latin1');
    this.socket.on('error', () => undefined); // `close` follows
    this.socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  }

  /** @throws Error if the server refuses the stream */
  async open() {
    const first = Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
    const [head] = /** @type {unknown[]} */ (await first);
    if (typeof head !== 'string' || !head.startsWith('HTTP/1.1 200 '))
      throw new Error(`no stream: ${String(head)}`);
    this.socket.on('data', (/** @type {string} */ text) => this.#take(text));
  }

  /** Events end with an empty line. @param {string} text */
  #take(text) {
    const events = (this.#pending + text).split('\n\n');
    this.#pending = events.pop() ?? '';
    for (const event of events) this.#hear(event);
  }

  /** A top 10 also shows older changes, which have arrived before. @param {string} event */
  #hear(event) {
    const now = Date.now();
    const least = this.kind === 'top' ? Math.max(begin, this.#newest + 1) : begin;
    for (const [, time = ''] of event.matchAll(this.times)) {
      const happened = Date.parse(time);
      if (happened < least) continue;
      this.#newest = Math.max(this.#newest, happened);
      this.latencies.push(now - happened);
    }
  }
}

let begin = Infinity;
/** @type {Client[]} */
const clients = [];
let cpu = process.cpuUsage();

process.on('message', (/** @type {Order} */ order) => void obey(order));
process.on('disconnect', () => process.exit());

/** Answers with a report. @param {Order} order */
async function obey(order) {
  if (order.open !== undefined) await openAll(order.open);
  begin = order.begin ?? begin;
  process.send?.(report());
}

/** @param {{ url: string, targets: Target[] }} options */
async function openAll({ url, targets }) {
  const waiting = targets.values();
  const openSome = async () => {
    for (const target of waiting) {
      const client = new Client(url, target);
      clients.push(client);
      await client.open();
    }
  };
  await Promise.all(Array.from({ length: CONNECTING }, openSome));
}

/** @returns {Report} */
function report() {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  return { cpu: user + system, heard: KINDS.map(heardBy) };
}

/** @param {Kind} kind @returns {Heard} */
function heardBy(kind) {
  const those = clients.filter((client) => client.kind === kind);
  const sorted = Float64Array.from(those.flatMap(({ latencies }) => latencies)).sort();
  const at = (/** @type {number} */ share) => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return {
    ...{ kind, streams: those.length, dropped: those.filter(({ socket }) => socket.closed).length },
    ...{ arrivals: sorted.length, p50: at(0.5), p99: at(0.99) },
  };
}

// @ts-check
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BenchProcess } from '../process.mjs';
import { withSandbox } from '../sandbox.mjs';
import { Server } from './http.mjs';
import { playerId, PLAYERS, Scores } from './scores.mjs';

/** @typedef {import('./stream-clients.mjs').Report} Report */
/** @typedef {import('./stream-clients.mjs').Target} Target */
/** @typedef {import('../process.mjs').Memory} Memory */
/**
 * @typedef {Memory & { cpu: number, clientsCpu: number }} Phase used CPUs of the server and of the
 * process of all clients
 */
/**
 * @typedef {{ rate: number, seconds: number }} Load events per second, and how long each phase
 * lasts
 */

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const CLIENTS = fileURLToPath(new URL('./stream-clients.mjs', import.meta.url));
const BOARDS = 'boards: { arena: { columns: [{ name: turn, update: latest }] } }\n';
const BOARD_PATH = '/v1/boards/arena/events';
const playerPath = (/** @type {string} */ player) => `/v1/boards/arena/players/${player}/events`;
const LONGEST_LATENCY_MS = 5_000;

/**
 * Measures a process of the role query with many event streams: each third shows the top 10, a
 * player, or all rank changes.
 * @param {number} streams @param {Load} load
 */
export function measureStreams(streams, load) {
  return withSandbox(async (sandbox) => {
    const env = { ...sandbox.env(BOARDS), RANKLOG_QUERY_STREAMS: String(streams) };
    const ingest = new BenchProcess([CLI, 'start', '--roles', 'ingest,reconciliation'], env);
    const scores = new Scores(sandbox);
    const clients = fork(CLIENTS);
    try {
      await scores.open();
      await sandbox.reached(PLAYERS, ingest);
      const server = await Server.ranklog(env);
      const targets = targetsOf(streams);
      return await measure({ server, clients, targets, scores }, load).finally(() => server.stop());
    } finally {
      if (clients.connected) clients.disconnect(); // it throws if they have ended
      await scores.close();
      await ingest.end('SIGTERM');
    }
  });
}

/**
 * @typedef {{ server: Server, clients: import('node:child_process').ChildProcess, targets:
 * Target[], scores: Scores }} Setup
 */

/** @param {Setup} setup @param {Load} load */
async function measure(setup, load) {
  const { server, clients, targets, scores } = setup;
  const unused = await server.memory();
  await ask(clients, { open: { url: server.url, targets } });
  const idle = await phase(setup, load, () => delay(load.seconds * 1_000));
  await ask(clients, { begin: Date.now() });
  const changing = await phase(setup, load, async () => {
    await scores.send(load);
    await delay(LONGEST_LATENCY_MS);
  });
  const { heard } = await ask(clients, {});
  const due = dueArrivals(targets, scores.players);
  return {
    load,
    unused,
    idle,
    changing,
    heard: heard.map((one) => ({ ...one, due: due[one.kind] })),
  };
}

/**
 * Events that arrive late count, too: all CPU time is divided by the seconds of the load.
 * @param {Setup} setup @param {Load} load @param {() => Promise<unknown>} work @returns
 * {Promise<Phase>}
 */
async function phase({ server, clients }, { seconds }, work) {
  await ask(clients, {});
  const cpu = server.cpu();
  await work();
  const used = server.cpu() - cpu;
  const report = await ask(clients, {});
  const us = seconds * 1e6;
  return { ...(await server.memory()), cpu: used / us, clientsCpu: report.cpu / us };
}

/** @param {number} streams @returns {Target[]} */
function targetsOf(streams) {
  return Array.from({ length: streams }, (_, index) => {
    if (index % 3 === 0) return { kind: 'top', path: '/v1/boards/arena/standings/events' };
    if (index % 3 === 1) return { kind: 'board', path: BOARD_PATH };
    return { kind: 'player', path: playerPath(playerId(Math.floor(index / 3) % PLAYERS)) };
  });
}

/**
 * @param {Setup['clients']} clients @param {import('./stream-clients.mjs').Order} order @returns
 * {Promise<Report>}
 */
function ask(clients, order) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('the process of the clients has ended; see its message'));
    clients.once('exit', fail);
    clients.once('message', (report) => {
      clients.off('exit', fail);
      resolve(/** @type {Report} */ (report));
    });
    clients.send(order);
  });
}

/**
 * How many events are to arrive. null for the top 10, which skips events that follow quickly.
 * @param {readonly Target[]} targets @param {readonly string[]} players of the events
 */
function dueArrivals(targets, players) {
  const watching = (/** @type {string} */ path) =>
    targets.filter((target) => target.path === path).length;
  const owners = players.reduce((sum, player) => sum + watching(playerPath(player)), 0);
  return { top: null, player: owners, board: players.length * watching(BOARD_PATH) };
}

/** @param {Awaited<ReturnType<typeof measureStreams>>} figures */
export function printStreams({ load, unused, idle, changing, heard }) {
  const streams = heard.reduce((sum, one) => sum + one.streams, 0);
  const arrivals = heard.reduce((sum, one) => sum + one.arrivals, 0);
  const memory = ({ rss, heapUsed, external } = unused) =>
    `RSS ${(rss / 1e6).toFixed(0)} MB, heap and buffers ` +
    `${((heapUsed + external) / 1e6).toFixed(0)} MB`;
  const each = ({ rss, heapUsed, external } = unused) => {
    const kB = (/** @type {number} */ bytes) => `${(bytes / streams / 1e3).toFixed(1)} kB`;
    const live = heapUsed + external - unused.heapUsed - unused.external;
    return `per stream ${kB(rss - unused.rss)}, ${kB(live)}`;
  };
  const phase = (/** @type {Phase} */ figures) =>
    `${memory(figures)}; ${each(figures)}; CPUs used: ${figures.cpu.toFixed(3)}, by the ` +
    `clients ${figures.clientsCpu.toFixed(3)}`;
  console.log(
    `no streams    ${memory()}\n${streams} idle   ${phase(idle)}\nunder change  ${phase(changing)}`,
  );
  const us = (changing.cpu * load.seconds * 1e6) / arrivals;
  console.log(`${arrivals} changes arrived, with ${us.toFixed(1)} us of CPU each`);
  for (const { kind, dropped, p50, p99, due, arrivals: got, streams: count } of heard)
    console.log(
      `  ${kind.padEnd(6)} ${count} streams, ${dropped} dropped; ${got} ` +
        `changes${due === null ? '' : ` of ${due}`}; latency p50 ${p50} ms, p99 ${p99} ms`,
    );
}

// @ts-check
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { median } from '../apply/measure.mjs';

const ESTABLISHED = '01';

/**
 * @typedef {{ rss: number, rssMost: number, kafka: number, redis: number }} Footprint of a process:
 * MB (median, largest), connections (largest)
 */

/**
 * Memory and connections of the processes, from what Linux says about them.
 * @param {readonly number[]} pids @param {{ kafka: readonly number[], redis: number }} ports
 * @returns {Footprint}
 */
export function footprint(pids, ports) {
  const rss = pids.map(rssOf);
  const peers = pids.map(remotePorts);
  const most = (/** @type {readonly number[]} */ of) =>
    Math.max(...peers.map((found) => found.filter((port) => of.includes(port)).length));
  return {
    rss: median(rss),
    rssMost: Math.max(...rss),
    kafka: most(ports.kafka),
    redis: most([ports.redis]),
  };
}

/** RSS of a process in MB. @param {number} pid */
function rssOf(pid) {
  const [, kB] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kB ?? NaN) / 1e3;
}

/** The remote port of each TCP connection of a process. @param {number} pid */
function remotePorts(pid) {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(pid, fd)));
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === ESTABLISHED && sockets.has(`socket:[${fields[9] ?? ''}]`))
    .map((fields) => Number.parseInt(fields[2]?.split(':')[1] ?? '', 16));
}

/** @param {number} pid @param {string} fd */
function linkOf(pid, fd) {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return ''; // closed meanwhile
  }
}

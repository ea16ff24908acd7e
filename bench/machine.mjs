// @ts-check
// Figures about processes and the machine, from /proc of Linux. NaN if a figure is missing there.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { SERVERS } from '../scripts/services/clone.mjs';

const TICK_US = 10_000;
/** user, nice, system, irq, softirq. The fields 3 and 4 between them are idle and iowait. */
const BUSY_FIELDS = [0, 1, 2, 5, 6];

/**
 * The CPU time of all threads of a process, in us. It grows in steps of 10 ms.
 * @param {number | undefined} pid
 */
export function cpuOf(pid) {
  const stat = pid === undefined ? '' : read(`/proc/${pid}/stat`);
  // The name of the program is in parentheses, and may contain spaces
  const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
  const [user, system] = fields.slice(12, 14);
  return (Number(user ?? NaN) + Number(system ?? NaN)) * TICK_US;
}

/** The largest RSS of a process so far, in MB. @param {number} pid */
export function peakRssOf(pid) {
  const [, kB] = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kB ?? NaN) / 1e3;
}

/** The CPU time of all processes of the machine, in us, without the time it was idle. */
export function busyCpu() {
  const [, ...ticks] = read('/proc/stat').split(/\s+/).map(Number);
  const busy = BUSY_FIELDS.map((field) => ticks[field] ?? NaN);
  return busy.reduce((sum, part) => sum + part, 0) * TICK_US;
}

/**
 * Pids of the Redis and the Kafka in use. Undefined for a server in Docker, and for one that the
 * project's scripts did not start.
 */
export function serverPids() {
  const { redis, kafka } = SERVERS.readState();
  return {
    redis: isAt(process.env['REDIS_URL'], redis?.port) ? SERVERS.runningPid('redis') : undefined,
    kafka: isAt(process.env['KAFKA_BROKERS'], kafka?.port)
      ? SERVERS.runningPid('kafka')
      : undefined,
  };
}

/** @param {string | undefined} address @param {number | undefined} port of this machine */
function isAt(address, port) {
  return port !== undefined && address !== undefined && address.endsWith(`127.0.0.1:${port}`);
}

/** Printed with all figures: those of different machines can't be compared. */
export function machine() {
  const cpus = os.cpus();
  const model = cpus[0]?.model ?? 'CPU';
  return {
    cpus: cpus.length,
    model: model.trim(),
    memoryGB: Math.round(os.totalmem() / 1e9),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // not Linux, or the process has ended
  }
}

// @ts-check
// What Linux says about processes and the machine; NaN where it says nothing.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { SERVERS } from '../scripts/services/clone.mjs';

const TICK_US = 10_000;

/**
 * us of CPU that all threads of a process have used, in steps of 10 ms. @param {number | undefined}
 * pid
 */
export function cpuOf(pid) {
  const stat = pid === undefined ? '' : read(`/proc/${pid}/stat`);
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(user ?? NaN) + Number(system ?? NaN)) * TICK_US;
}

/** The largest RSS of a process so far, in MB. @param {number} pid */
export function peakRssOf(pid) {
  const [, kB] = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kB ?? NaN) / 1e3;
}

/** us of CPU that all processes of the machine have used. */
export function busyCpu() {
  const [user, nice, system, , , irq, softIrq] = read('/proc/stat')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const ticks = [user, nice, system, irq, softIrq].map((part) => part ?? NaN);
  return ticks.reduce((sum, part) => sum + part, 0) * TICK_US;
}

/** Pids of the servers in use, as far as the project's scripts started them without Docker. */
export function serverPids() {
  const state = SERVERS.readState();
  const pid = (/** @type {'kafka' | 'redis'} */ name, /** @type {string | undefined} */ address) =>
    state[name] !== undefined && address?.endsWith(`127.0.0.1:${state[name].port}`)
      ? SERVERS.runningPid(name)
      : undefined;
  return {
    redis: pid('redis', process.env['REDIS_URL']),
    kafka: pid('kafka', process.env['KAFKA_BROKERS']),
  };
}

/** Who measured: figures of different machines can't be compared. */
export function machine() {
  const { model = 'CPU' } = os.cpus()[0] ?? {};
  return {
    cpus: os.cpus().length,
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

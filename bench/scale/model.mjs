// @ts-check
import { execFileSync } from 'node:child_process';
import { cliOf } from '../ranklog.mjs';

/** @typedef {{ processes: { cpuPerEvent: number }, redis: { cpuPerEvent: number } }} Size */

/**
 * CPU per event by `ranklog size`, in us. @param {import('./load.mjs').Load} load @param {number}
 * shards
 */
export function modelOf({ boards, players, views }, shards) {
  const options = { players: boards * players, boards, views, shards, 'events-per-second': 1 };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const output = execFileSync(process.execPath, [cliOf(), 'size', '--json', ...args]);
  const { processes, redis } = /** @type {Size} */ (JSON.parse(output.toString()));
  return { own: processes.cpuPerEvent, redis: redis.cpuPerEvent };
}

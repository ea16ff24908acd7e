// @ts-check
// What the peers have in common: each is a process of its own, `node FILE JSON`, that prints its result as JSON.
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';

/** @typedef {{ topics: { scoreEvents: string, rankChanges: string }, name: string, events: number }} Task */
/** @typedef {{ seconds: number, peakRss: number }} Measured from the first record to the last one applied; RSS in MB */

/** @returns {Task} the task of the process */
export function task() {
  /** @type {unknown} */
  const told = JSON.parse(process.argv[2] ?? '');
  return /** @type {Task} */ (told);
}

export function clients() {
  const kafka = new Kafka({ brokers: brokers(), logLevel: logLevel.NOTHING });
  return { kafka, redis: new Redis(process.env['REDIS_URL'] ?? '') };
}

export function brokers() {
  return (process.env['KAFKA_BROKERS'] ?? '').split(',');
}

/** @param {number} seconds */
export function tell(seconds) {
  /** @type {Measured} */
  const measured = { seconds, peakRss: process.resourceUsage().maxRSS / 1e3 };
  console.log(JSON.stringify(measured));
}

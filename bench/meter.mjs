// @ts-check
import { median } from './apply/measure.mjs';
import { busyCpu, cpuOf, peakRssOf, serverPids } from './machine.mjs';

/**
 * @typedef {{ at: number, own: number, redis: number, kafka: number, busy: number, rss: number }}
 * Mark ms, us of CPU so far, MB
 */
/**
 * @typedef {object} Figures
 * @property {number} rate events per second
 * @property {number} own us of CPU per event of the process itself
 * @property {number} redis of Redis
 * @property {number} kafka of Kafka
 * @property {number} others CPUs that all other processes of the machine used meanwhile
 * @property {number} rss largest RSS of the process, in MB
 */

/**
 * Looks at the clock, and at the CPU time of a process and the servers. @param {number} pid
 * @returns {Mark}
 */
export function mark(pid) {
  const { redis, kafka } = serverPids();
  return {
    at: performance.now(),
    ...{ own: cpuOf(pid), redis: cpuOf(redis), kafka: cpuOf(kafka), busy: busyCpu() },
    rss: peakRssOf(pid),
  };
}

/**
 * @param {Mark} from @param {Mark} to @param {number} events between the marks @returns {Figures}
 */
export function figures(from, to, events) {
  const used = (/** @type {'own' | 'redis' | 'kafka' | 'busy'} */ what) => to[what] - from[what];
  const us = (to.at - from.at) * 1e3;
  const each = (/** @type {'own' | 'redis' | 'kafka'} */ what) => used(what) / events;
  return {
    rate: (events / us) * 1e6,
    ...{ own: each('own'), redis: each('redis'), kafka: each('kafka') },
    others: (used('busy') - used('own') - used('redis') - used('kafka')) / us,
    rss: to.rss,
  };
}

/** CPU per event of all processes that take part. @param {Figures} figures */
export function allCpu({ own, redis, kafka }) {
  return own + redis + kafka;
}

/** The median of each figure. @param {Figures[]} rounds @returns {Figures} */
export function medians(rounds) {
  const of = (/** @type {keyof Figures} */ what) => median(rounds.map((round) => round[what]));
  return {
    ...{ rate: of('rate'), own: of('own'), redis: of('redis'), kafka: of('kafka') },
    ...{ others: of('others'), rss: of('rss') },
  };
}

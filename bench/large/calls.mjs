// @ts-check
// A Redis of its own, and the longest call to it in each step of the bench.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { withCleanUp } from '../../scripts/clean-up.mjs';

/**
 * @typedef {{ command: string, cpu: number, script: number }} Longest ms of CPU; `script`: until
 * its end, with waits for a CPU
 */
/**
 * @typedef {{ step: string, calls: number, seconds: number, redisCpu: number, longest: Longest }}
 * Step `redisCpu` in s
 */

/**
 * Runs some work with a Redis that nobody else uses and that does not write to disk.
 * @template T
 * @param {(redis: Redis) => Promise<T>} work
 */
export async function withOwnRedis(work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-large-'));
  const socket = path.join(folder, 'redis.sock');
  const settings = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--save', ''];
  const server = spawn('redis-server', [...settings, '--appendonly', 'no'], { stdio: 'ignore' });
  const redis = new Redis({ path: socket, retryStrategy: () => 100, maxRetriesPerRequest: null });
  redis.on('error', () => undefined); // it refuses connections while it starts
  return withCleanUp(
    () => work(redis),
    async () => {
      redis.disconnect();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  );
}

/**
 * Measures the steps of the bench. Every call is between two reads of the CPU time of Redis, on the
 * same connection.
 */
export class Calls {
  /** @type {Step[]} */
  steps = [];
  #longest = { command: '', cpu: 0 };
  #calls = 0;
  #cpu = 0;

  /** @param {Redis} redis */
  constructor(redis) {
    this.redis = redis;
    const send = redis.sendCommand.bind(redis);
    /** @type {typeof redis.sendCommand} */
    const measured = (command, ...rest) => {
      if (this.isOff || /^(info|slowlog|config|ping)$/.test(command.name))
        return send(command, ...rest);
      const before = redis.info('cpu');
      const result = send(command, ...rest);
      void this.#note(command.name, before, redis.info('cpu'));
      return result;
    };
    redis.sendCommand = measured;
  }

  /** Whether calls are not measured, as in comparisons of CPU time. */
  isOff = false;

  /**
   * @template T
   * @param {string} step @param {() => Promise<T>} work @returns {Promise<T>}
   */
  async step(step, work) {
    this.#longest = { command: '', cpu: 0 };
    this.#calls = 0;
    this.#cpu = 0;
    await this.redis.config('SET', 'slowlog-log-slower-than', '1000');
    await this.redis.config('SET', 'slowlog-max-len', '10000');
    await this.redis.slowlog('RESET');
    const begun = performance.now();
    const result = await work();
    const seconds = (performance.now() - begun) / 1e3;
    await this.redis.ping();
    await setImmediate(); // what was sent before is noted by now
    const slow = /** @type {[number, number, number, string[]][]} */ (
      await this.redis.slowlog('GET', 10_000)
    );
    const script = Math.max(0, ...slow.map(([, , us]) => us)) / 1e3;
    const longest = { ...this.#longest, script };
    this.steps.push({ step, calls: this.#calls, seconds, redisCpu: this.#cpu / 1e6, longest });
    console.error(this.text(this.steps.length - 1));
    return result;
  }

  /** @param {string} command @param {Promise<string>} before @param {Promise<string>} after */
  async #note(command, before, after) {
    const us = cpuIn(await after) - cpuIn(await before);
    this.#calls += 1;
    this.#cpu += us;
    if (us / 1e3 > this.#longest.cpu) this.#longest = { command, cpu: us / 1e3 };
  }

  /** A line on each step from `first` on. */
  text(first = 0) {
    return this.steps
      .slice(first)
      .map(({ step, calls, seconds, redisCpu, longest: { command, cpu, script } }) => {
        const most = `longest ${cpu.toFixed(1)} ms of CPU (${command}), ${script.toFixed(1)} ms in SLOWLOG`;
        return (
          `${step.padEnd(44)} ${String(calls).padStart(8)} calls  ` +
          `${seconds.toFixed(1).padStart(7)} s  Redis ${redisCpu.toFixed(2).padStart(7)} s  ` +
          most
        );
      })
      .join('\n');
  }
}

/** us of CPU of the thread that runs commands. @param {string} info */
function cpuIn(info) {
  const parts = [...info.matchAll(/used_cpu_(?:user|sys)_main_thread:([\d.]+)/g)];
  return parts.reduce((sum, [, seconds]) => sum + Number(seconds) * 1e6, 0);
}

/** @param {Redis} redis */
export async function usedMemory(redis) {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

// @ts-check
import { readState, runningPid } from './state.mjs';

/** The environment variable that names each server. */
export const VARIABLES = /** @type {const} */ ({ kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL' });

/**
 * The address of a server: from the environment, else where it was started.
 * @param {import('./state.mjs').ServerName} name
 * @returns {string | undefined}
 */
export function addressOf(name) {
  const given = process.env[VARIABLES[name]];
  if (given) return given;
  const { mode, docker, [name]: native } = readState();
  const port = mode === 'docker' ? docker?.[name] : runningPid(name) && native?.port;
  return port ? localAddress(name, port) : undefined;
}

/** @param {import('./state.mjs').ServerName} name @param {number} port */
export function localAddress(name, port) {
  return name === 'kafka' ? `127.0.0.1:${port}` : `redis://127.0.0.1:${port}`;
}

/** @returns {{ KAFKA_BROKERS?: string, REDIS_URL?: string }} of the servers with a known address */
export function serverVariables() {
  const kafka = addressOf('kafka');
  const redis = addressOf('redis');
  return { ...(kafka && { KAFKA_BROKERS: kafka }), ...(redis && { REDIS_URL: redis }) };
}

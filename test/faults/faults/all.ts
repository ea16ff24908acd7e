// To add a fault: write an object that does harm, waits for the effect, and repairs it (fault.ts).
// Add it to the list of its file, and to the table in test/faults/README.md.

import type { RedisKind } from '#servers';
import { BUILD_FAULTS } from './builds.js';
import { DEPLOY_FAULTS } from './deploys.js';
import type { Fault } from './fault.js';
import { NETWORK_FAULTS } from './network.js';
import { PERIOD_FAULTS } from './periods.js';
import { REDIS_GROUP_FAULTS } from './redis-groups.js';
import { RETRY_FAULTS } from './retries.js';
import { SERVER_FAULTS } from './servers.js';
import { WORKER_FAULTS } from './workers.js';

export const FAULTS: readonly Fault[] = [
  ...RETRY_FAULTS,
  ...WORKER_FAULTS,
  ...DEPLOY_FAULTS,
  ...NETWORK_FAULTS,
  ...SERVER_FAULTS,
  ...BUILD_FAULTS,
  ...PERIOD_FAULTS,
  ...REDIS_GROUP_FAULTS,
];

/** The names of the faults for a kind of Redis. */
export function faultsOn(kind: RedisKind): string[] {
  return FAULTS.filter(({ redis }) => redis?.includes(kind) !== false).map(({ name }) => name);
}

/** @throws if a fault is not for a kind of Redis */
export function requireOn(kind: RedisKind, names: readonly string[]): void {
  for (const { name, redis } of names.map(faultNamed))
    if (redis?.includes(kind) === false)
      throw new Error(`the fault ${name} is not for --redis ${kind}, but for ${redis.join(', ')}`);
}

/** @throws if there is no fault of this name */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(
      `there is no fault ${name}; there are ${FAULTS.map((one) => one.name).join(', ')}`,
    );
  return found;
}

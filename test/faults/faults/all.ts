import { BUILD_FAULTS } from './builds.js';
import type { Fault } from './fault.js';
import { KAFKA_FAULTS } from './kafka.js';
import { REDIS_NETWORK_FAULTS } from './redis-network.js';
import { REDIS_SERVER_FAULTS } from './redis-server.js';
import { FAULTS_TOGETHER } from './together.js';
import { WORKER_FAULTS } from './workers.js';

export const FAULTS: readonly Fault[] = [
  ...WORKER_FAULTS,
  ...REDIS_NETWORK_FAULTS,
  ...REDIS_SERVER_FAULTS,
  ...KAFKA_FAULTS,
  ...FAULTS_TOGETHER,
  ...BUILD_FAULTS,
];

/** @throws when there is none of this name */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(
      `there is no fault ${name}; there are ${FAULTS.map((one) => one.name).join(', ')}`,
    );
  return found;
}

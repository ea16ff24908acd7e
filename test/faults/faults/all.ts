import type { Random } from '../load.js';
import type { World } from '../world/world.js';
import { BUILD_FAULTS } from './builds.js';
import { NETWORK_FAULTS } from './network.js';
import { SERVER_FAULTS } from './servers.js';
import { WORKER_FAULTS } from './workers.js';

/**
 * One way to do harm. `run` does it, waits until it has taken effect, repairs it, and leaves at least one worker running. It
 * reports to the world what it did, and throws if the effect does not occur.
 */
export interface Fault {
  readonly name: string;
  /** How many brokers it needs; 1 by default. */
  readonly brokers?: number;
  readonly run: (world: World, random: Random) => Promise<void>;
}

export const FAULTS: readonly Fault[] = [
  ...WORKER_FAULTS,
  ...NETWORK_FAULTS,
  ...SERVER_FAULTS,
  ...BUILD_FAULTS,
];

/** @throws if there is no fault of this name */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(
      `there is no fault ${name}; there are ${FAULTS.map((one) => one.name).join(', ')}`,
    );
  return found;
}

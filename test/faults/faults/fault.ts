import type { Random } from '../load.js';
import type { World } from '../world/world.js';

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

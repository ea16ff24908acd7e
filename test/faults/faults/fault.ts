import type { Random } from '../load.js';
import type { World } from '../world/world.js';

/**
 * One way to do harm: waits until it has taken effect, repairs it, and leaves at least one worker running. It counts what
 * it did in the world's tally, and throws when the effect does not come.
 */
export interface Fault {
  readonly name: string;
  /** One sentence for the README and `--help`. */
  readonly does: string;
  /** How many brokers it needs; 1 where it does not say. */
  readonly brokers?: number;
  readonly run: (world: World, random: Random) => Promise<void>;
}

import type { RedisKind } from '#servers';
import type { Random } from '../random.js';
import type { World } from '../world/world.js';

/**
 * One way to do harm. `run` does the harm, waits until it has taken effect, repairs it, and leaves
 * at least one worker running. `run` reports to the world what it did, and throws if the effect
 * does not occur.
 */
export interface Fault {
  readonly name: string;
  /** How many brokers the fault needs; 1 by default. */
  readonly brokers?: number;
  /** Whether the fault needs announcements; not by default. */
  readonly announces?: boolean;
  /** The kinds of Redis that the fault is for; all by default. */
  readonly redis?: readonly RedisKind[];
  readonly run: (world: World, random: Random) => Promise<void>;
}

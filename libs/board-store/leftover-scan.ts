import type { Redis } from 'ioredis';
import type { KeySpace } from './keys.js';

/** How many keys of Redis one command looks at, about, and how many commands a step makes. */
const KEYS_A_COMMAND = 1_000;
const COMMANDS_A_STEP = 10;

interface Pass {
  readonly generations: ReadonlySet<string>;
  cursor: string;
}

/**
 * Removes the keys of discarded generations that no list tells of any more, since somebody has changed it: all keys of Redis
 * are looked at, some a step, in one pass for all generations of a shard that wait for it. Where Redis is another server
 * meanwhile, some may be missed: then they stay.
 */
export class LeftoverScan {
  /** By shard. */
  readonly #passes = new Map<number, Pass>();

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
  ) {}

  /** A step for generations of a shard that wait; answers those of which nothing is left. */
  async step(shard: number, waiting: readonly string[]): Promise<string[]> {
    const pass = this.#passes.get(shard) ?? { generations: new Set(waiting), cursor: '0' };
    this.#passes.delete(shard);
    if (waiting.length === 0) return [];
    for (let command = 0; command < COMMANDS_A_STEP; command++) {
      await this.#scan(shard, pass);
      if (pass.cursor === '0') return [...pass.generations];
    }
    this.#passes.set(shard, pass);
    return [];
  }

  async #scan(shard: number, pass: Pass): Promise<void> {
    const { keys, redis } = this;
    const pattern = keys.allOf(shard);
    const [next, names] = await redis.scan(pass.cursor, 'MATCH', pattern, 'COUNT', KEYS_A_COMMAND);
    const left = names.filter((name) => pass.generations.has(keys.generationOf(shard, name) ?? ''));
    if (left.length > 0) await redis.unlink(...left);
    pass.cursor = next;
  }
}

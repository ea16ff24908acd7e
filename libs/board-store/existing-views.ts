import type { ChainableCommander, Redis } from 'ioredis';
import type { KeySpace } from './keys.js';

/** A view that exists. `expiresAt` is in ms of the board's event clock; null: never. */
export interface ExistingView {
  readonly view: string;
  readonly version: number;
  readonly expiresAt: number | null;
}

/** Keys of a live generation in its shard. */
export interface GenerationKeys {
  readonly keys: KeySpace;
  readonly shard: number;
  readonly generation: string;
}

/**
 * The views of a board that have not expired, by their text; read in one atomic step. undefined for a generation that was
 * given up. Cost: linear in the views.
 */
export async function existingViews(
  redis: Redis,
  { keys, shard, generation }: GenerationKeys,
): Promise<ExistingView[] | undefined> {
  const [versions, clock, expiries, isThere, isDiscarded] = await atomically<
    [Record<string, string>, string | null, string[], number, number]
  >(
    redis
      .multi()
      .hgetall(keys.views(shard, generation))
      .hget(keys.facts(shard, generation), 'clock')
      .zrange(keys.expiries(shard, generation), '0', '-1', 'WITHSCORES')
      .hexists(keys.definitions(shard), generation)
      .sismember(keys.discarded(shard), generation),
  );
  if (isThere === 0 || isDiscarded === 1) return undefined;
  const ends = new Map<string, number>();
  for (let index = 0; index < expiries.length; index += 2)
    ends.set(expiries[index] ?? '', Number(expiries[index + 1]));
  return Object.entries(versions)
    .map(([view, version]) => ({
      view,
      version: Number(version),
      expiresAt: ends.get(view) ?? null,
    }))
    .filter(({ expiresAt }) => expiresAt === null || clock === null || expiresAt > Number(clock))
    .sort((a, b) => (a.view < b.view ? -1 : 1));
}

/** How many views of a board have not expired at a time of its event clock (null: none has). */
export async function countViews(
  redis: Redis,
  { keys, shard, generation }: GenerationKeys,
  clock: number | null,
): Promise<number> {
  const [all, expired] = await atomically<[number, number]>(
    redis
      .multi()
      .hlen(keys.views(shard, generation))
      .zcount(keys.expiries(shard, generation), '-inf', clock ?? '(-inf'),
  );
  return all - expired;
}

/** The replies of a transaction. @throws the first error of its commands */
async function atomically<T extends unknown[]>(commands: ChainableCommander): Promise<T> {
  const replies = (await commands.exec()) ?? [];
  for (const [error] of replies) if (error !== null) throw error;
  return replies.map(([, reply]) => reply) as T;
}

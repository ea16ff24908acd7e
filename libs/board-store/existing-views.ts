import type { ChainableCommander, Redis } from 'ioredis';
import { keptNumber } from './kept-texts.js';
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
  place: GenerationKeys,
): Promise<ExistingView[] | undefined> {
  const { keys, shard, generation } = place;
  const [viewsKey, facts] = [keys.views(shard, generation), keys.facts(shard, generation)];
  const [versions, clockText, expiries, ...asked] = await atomically<
    [Record<string, string>, string | null, string[], number, number]
  >(
    askGivenUp(
      redis
        .multi()
        .hgetall(viewsKey)
        .hget(facts, 'clock')
        .zrange(keys.expiries(shard, generation), '0', '-1', 'WITHSCORES'),
      place,
    ),
  );
  if (isGone(asked)) return undefined;
  const ends = new Map<string, number>();
  for (let index = 0; index < expiries.length; index += 2)
    ends.set(expiries[index] ?? '', Number(expiries[index + 1]));
  const clock = clockText === null ? null : soundNumber(clockText, `the clock in ${facts}`);
  return Object.entries(versions)
    .map(([view, version]) => ({
      view,
      version: soundNumber(version, `the version of view "${view}" in ${viewsKey}`),
      expiresAt: ends.get(view) ?? null,
    }))
    .filter(({ expiresAt }) => expiresAt === null || clock === null || expiresAt > clock)
    .sort((a, b) => (a.view < b.view ? -1 : 1));
}

/** @throws where somebody has written what is no number: which views exist, and as of when, can't be told then */
function soundNumber(text: string, name: string): number {
  const found = keptNumber(text);
  if (found === undefined) throw new Error(`${name} is damaged: rebuild the board`);
  return found;
}

/** A view with its number of players. */
export interface ViewSummary extends ExistingView {
  readonly size: number;
}

/**
 * The views that have players, by their text. undefined for a generation that was given up, also while it was read.
 * Cost: linear in the views.
 */
export async function sizedViews(
  redis: Redis,
  place: GenerationKeys,
): Promise<ViewSummary[] | undefined> {
  const { keys, shard, generation } = place;
  const views = await existingViews(redis, place);
  if (views === undefined) return undefined;
  const sizes = await Promise.all(
    views.map(({ view }) => redis.zcard(keys.ranking(shard, generation, view))),
  );
  if (sizes.includes(0) && (await isGivenUp(redis, place))) return undefined;
  return views
    .map((view, index) => ({ ...view, size: sizes[index] ?? 0 }))
    .filter(({ size }) => size > 0); // nothing is left of one that was swept meanwhile
}

/** Whether the keys of a generation are gone, or may go at any moment. */
async function isGivenUp(redis: Redis, place: GenerationKeys): Promise<boolean> {
  return isGone(await atomically<[number, number]>(askGivenUp(redis.multi(), place)));
}

/** What `askGivenUp` was answered. */
function isGone([isThere, isDiscarded]: readonly [number, number]): boolean {
  return isThere === 0 || isDiscarded === 1;
}

/** Adds two replies: whether there is a definition (1, 0), and whether it is discarded (1, 0). */
function askGivenUp(
  commands: ChainableCommander,
  { keys, shard, generation }: GenerationKeys,
): ChainableCommander {
  return commands
    .hexists(keys.definitions(shard), generation)
    .sismember(keys.discarded(shard), generation);
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

import type { Redis } from 'ioredis';
import { keptNumber } from './kept-texts.js';
import type { KeySpace } from './keys.js';
import { pairsOf } from './rows.js';

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
  const reply = await redis.ranklogViews(
    5,
    viewsKey,
    facts,
    keys.expiries(shard, generation),
    keys.definitions(shard),
    keys.discarded(shard),
    generation,
  );
  if (reply.length === 0) return undefined;
  const [versions, clockText, expiries] = reply;
  const ends = new Map(pairsOf(expiries).map(([view, end]) => [view, Number(end)]));
  const clock = clockText === '' ? null : soundNumber(clockText, `the clock in ${facts}`);
  return pairsOf(versions)
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
  const mayBeGivenUp = sizes.includes(0);
  if (mayBeGivenUp && (await existingViews(redis, place)) === undefined) return undefined;
  return views
    .map((view, index) => ({ ...view, size: sizes[index] ?? 0 }))
    .filter(({ size }) => size > 0); // nothing is left of one that was swept meanwhile
}

/** How many views of a board have not expired at a time of its event clock (null: none has). Not read in one step. */
export async function countViews(
  redis: Redis,
  { keys, shard, generation }: GenerationKeys,
  clock: number | null,
): Promise<number> {
  const [all, expired] = await Promise.all([
    redis.hlen(keys.views(shard, generation)),
    redis.zcount(keys.expiries(shard, generation), '-inf', clock ?? '(-inf'),
  ]);
  return all - expired;
}

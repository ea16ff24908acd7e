import type { Redis } from 'ioredis';
import type { KeySpace } from './keys.js';

/** How many views one step asks for. */
const VIEWS_A_STEP = 1_000;

/** A view with a state of a player: its bytes (libs/board/state.ts). */
export interface StateInView {
  readonly view: string;
  readonly state: Buffer;
}

/**
 * The states of a player in all views of a generation, also in expired ones. Finds every state that is there during the whole
 * call. Cost: linear in the views, 1,000 in a request.
 */
export async function statesOfPlayer(
  redis: Redis,
  keys: KeySpace,
  { shard, generation }: { readonly shard: number; readonly generation: string },
  playerId: string,
): Promise<StateInView[]> {
  const found = new Map<string, Buffer>(); // a scan may repeat a view
  let cursor = '0';
  do {
    const views = keys.views(shard, generation);
    const [next, words] = await redis.hscan(views, cursor, 'COUNT', VIEWS_A_STEP);
    const names = words.filter((_, index) => index % 2 === 0);
    const states = await Promise.all(
      names.map((view) => redis.hgetBuffer(keys.players(shard, generation, view), playerId)),
    );
    for (const [index, view] of names.entries()) {
      const state = states[index];
      if (state) found.set(view, state);
    }
    cursor = next;
  } while (cursor !== '0');
  return [...found].map(([view, state]) => ({ view, state }));
}

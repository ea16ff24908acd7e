import { rowsOf } from '../lua/scripts.js';
import type { KeySpace } from './keys.js';
import type { RedisClient } from './redis-client.js';

/** About how many views one step reads. */
const VIEWS_A_STEP = 1_000;

/** A view, and the bytes of a player's state in it (libs/board/state.ts). */
export interface StateInView {
  readonly view: string;
  readonly state: Buffer;
}

/**
 * The states of some players in all views of a generation, also in expired ones. Finds every state
 * that exists during the whole call.
 * Cost: linear in the views, with a request for each, and in the players.
 */
export async function statesOfPlayers(
  redis: RedisClient,
  keys: KeySpace,
  { shard, generation }: { readonly shard: number; readonly generation: string },
  playerIds: readonly string[],
): Promise<Map<string, StateInView[]>> {
  const found = new Map<string, StateInView[]>(playerIds.map((playerId) => [playerId, []]));
  const seen = new Set<string>(); // a scan may repeat a view
  const key = keys.views(shard, generation);
  let cursor = '0';
  do {
    const [next, fields] = await redis.hscan(key, cursor, 'COUNT', VIEWS_A_STEP);
    const views = rowsOf(fields, 2).map(([view = '']) => view);
    const unseen = views.filter((view) => !seen.has(view));
    const statesInViews = await Promise.all(
      unseen.map((view) => redis.hmgetBuffer(keys.players(shard, generation, view), ...playerIds)),
    );
    for (const [viewIndex, view] of unseen.entries()) {
      seen.add(view);
      const states = statesInViews[viewIndex] ?? [];
      for (const [index, playerId] of playerIds.entries()) {
        const state = states[index];
        if (state) found.get(playerId)?.push({ view, state });
      }
    }
    cursor = next;
  } while (cursor !== '0');
  return found;
}

import type { KeySpace } from './keys.js';
import type { RedisClient } from './redis-client.js';

/** How many views one step asks for. */
const VIEWS_A_STEP = 1_000;

/** A view with a state of a player: its bytes (libs/board/state.ts). */
export interface StateInView {
  readonly view: string;
  readonly state: Buffer;
}

/**
 * The states of some players in all views of a generation, also in expired ones. Finds every state
 * that is there during the whole call.
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
  let cursor = '0';
  do {
    const views = keys.views(shard, generation);
    const [next, words] = await redis.hscan(views, cursor, 'COUNT', VIEWS_A_STEP);
    const names = words.filter((word, index) => index % 2 === 0 && !seen.has(word));
    const states = await Promise.all(
      names.map((view) => redis.hmgetBuffer(keys.players(shard, generation, view), ...playerIds)),
    );
    for (const [at, view] of names.entries()) {
      seen.add(view);
      for (const [index, state] of (states[at] ?? []).entries())
        if (state !== null) found.get(playerIds[index] ?? '')?.push({ view, state });
    }
    cursor = next;
  } while (cursor !== '0');
  return found;
}

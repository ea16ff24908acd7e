import { refusalOf, type ShadowPlace } from './catch-up-arguments.js';
import type { OrderOutcome, OrderStep } from './generation-types.js';
import { TIE_SIGNS } from './run-arguments.js';
import type { OrderReply } from './scripts.js';
import { pairsOf } from './rows.js';

/** A step that puts players in order as keys and arguments of lua/order.lua, whose header gives the order. */
export function orderArguments(
  { keys, shard, lease, shadow }: ShadowPlace,
  { views, mostPlayers }: OrderStep,
): [number, ...(string | number)[]] {
  const { board, generation, definition } = shadow;
  const { columns, ties } = definition;
  const allKeys = [
    keys.lease(shard, board),
    keys.shadows(shard),
    keys.unordered(shard, generation),
    ...views.flatMap(({ view }) => keys.ofView(shard, generation, view)),
  ];
  return [
    allKeys.length,
    ...allKeys,
    lease.token,
    board,
    generation,
    columns.length,
    TIE_SIGNS[ties],
    mostPlayers,
    ...views.flatMap(({ view, cursor }) => [view, cursor]),
  ];
}

export function orderOutcome(reply: number | OrderReply): OrderOutcome {
  if (!Array.isArray(reply)) return { status: refusalOf(reply) };
  const [players, ...words] = reply;
  const views = pairsOf(words.map(String)).map(([view, cursor]) => ({ view, cursor }));
  return { status: 'applied', players: Number(players), views };
}

import { parseDecimal, resolveEvent, type BoardDefinition, type ScoreInput } from '#board';
import { BoardReader, type KeySpace } from '#board-store';
import type { Redis } from 'ioredis';
import { readTop } from '../../src/cli/commands/standings.js';
import { StoreFixture } from '../board-store/fixture.js';
import type { Player } from './players.js';
import { parts } from './zset.js';

/**
 * Fills a board through the apply script. The result reads the players of a view in order, with
 * columns in minor units.
 */
export async function rankedByRanklog(
  { redis, keys }: { redis: Redis; keys: KeySpace },
  definition: BoardDefinition,
  inputs: readonly (ScoreInput & { occurredAt: number })[],
): Promise<(view: string) => Promise<Omit<Player, 'gains'>[]>> {
  const fixture = await new StoreFixture(redis, keys).register(definition);
  const events = inputs.map((input) => {
    const resolution = resolveEvent(definition, input, input.occurredAt);
    if (!resolution.ok) throw new Error(resolution.detail);
    return resolution.event;
  });
  let from = 0;
  for (const part of parts(events, 500)) {
    await fixture.apply(part, { from, published: events.length });
    from += part.length;
  }
  const minor = (columns: Readonly<Record<string, string>>) =>
    definition.columns.map(({ name, decimals }) => {
      const parsed = parseDecimal(columns[name] ?? '', decimals);
      return parsed.ok ? parsed.minor : NaN;
    });
  return async (view) => {
    const reader = new BoardReader({ redis, prefix: keys.prefix });
    const { entries } = await readTop(reader, definition.board, { view, most: Infinity });
    return entries.map(({ playerId, columns, reachedAt }) => ({
      id: playerId,
      columns: minor(columns),
      at: Date.parse(reachedAt),
    }));
  };
}

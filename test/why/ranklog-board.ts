import { parseDecimal, resolveEvent, type BoardDefinition, type ScoreInput } from '#board';
import { BoardReader, type KeySpace, type Standing } from '#board-store';
import type { Redis } from 'ioredis';
import { StoreFixture } from '../board-store/fixture.js';
import type { Player } from './players.js';
import { parts } from './zset.js';

/** A ranklog board, filled through the apply script and read by pages. */
export class RanklogBoard {
  readonly #reader: BoardReader;

  private constructor(
    fixture: StoreFixture,
    private readonly definition: BoardDefinition,
  ) {
    this.#reader = new BoardReader(fixture.redis, fixture.keys);
  }

  static async filled(
    { redis, keys }: { redis: Redis; keys: KeySpace },
    definition: BoardDefinition,
    inputs: readonly (ScoreInput & { occurredAt: number })[],
  ): Promise<RanklogBoard> {
    const fixture = await new StoreFixture(redis, keys).register(definition);
    const events = inputs.map((input) => {
      const resolution = resolveEvent(definition, input, input.occurredAt);
      if (!resolution.ok) throw new Error(resolution.rejection.detail);
      return resolution.event;
    });
    let from = 0;
    for (const part of parts(events, 500)) {
      await fixture.apply(part, { from, published: events.length });
      from += part.length;
    }
    return new RanklogBoard(fixture, definition);
  }

  /** All players of a view in order, with their columns in minor units. */
  async players(view: string): Promise<Omit<Player, 'gains'>[]> {
    const found: Omit<Player, 'gains'>[] = [];
    for (let size = 1; found.length < size;) {
      const page = { offset: found.length, limit: 5_000 };
      const standings = await this.#reader.standings(this.definition.board, view, page);
      found.push(...standings.entries.map((entry) => this.#player(entry)));
      size = standings.size;
    }
    return found;
  }

  #player({ playerId, columns, reachedAt }: Standing): Omit<Player, 'gains'> {
    const minor = this.definition.columns.map(({ name, decimals }) => {
      const parsed = parseDecimal(columns[name] ?? '', decimals);
      return parsed.ok ? parsed.minor : NaN;
    });
    return { id: playerId, columns: minor, at: reachedAt };
  }
}

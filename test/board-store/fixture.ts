import type { BoardDefinition, ResolvedEvent, ResolvedView } from '#board';
import {
  BoardReader,
  BoardStore,
  ContinuityStore,
  StoreStatus,
  type ApplyCall,
  type ApplyEntry,
  type ApplyOutcome,
  type KeySpace,
  type LiveBoard,
  type RankChangeVerdict,
  type Stretch,
  type Verdict,
} from '#board-store';
import type { RankMovement } from '#contracts';
import type { Redis } from 'ioredis';
import { arena as plainest } from '../support/arena.js';

export const T0 = Date.parse('2026-11-20T09:00:00.000Z');

/** The plainest board, but with both ranks in its rank changes. */
export const arena: BoardDefinition = {
  ...plainest,
  publish: { ...plainest.publish, ranks: ['ordinal', 'competition'] },
};

/** Views that never expire and are published. */
export function lasting(...views: string[]): ResolvedView[] {
  return views.map((view) => ({ view, expiresAt: null, published: true }));
}

/**
 * An event with which a player gains these points. All columns of its board are descending, so its
 * values are negated.
 */
export function scored(
  playerId: string,
  points: number[],
  fields: Partial<ResolvedEvent> = {},
): ResolvedEvent {
  return {
    playerId,
    occurredAt: T0,
    values: points.map((value) => 0 - value),
    views: lasting('all'),
    ...fields,
  };
}

/**
 * A stretch of the log that contains these events of the board `arena`, at the offsets from `from`
 * on.
 */
export function stretchOf(
  events: readonly ResolvedEvent[],
  { from = 0, partition = 0 }: { from?: number; partition?: number } = {},
): Stretch {
  const entries = events.map((event, index) => ({
    ...{ kind: 'event' as const, offset: from + index, board: 'arena', event },
  }));
  return { partition, from, through: from + events.length - 1, entries };
}

/**
 * Resyncs a shard with a Kafka that has these published positions; returns the shard's new
 * continuity.
 */
export async function comparedToken(
  store: ContinuityStore,
  shard: number,
  positions: ReadonlyMap<number, number> = new Map(),
): Promise<string> {
  const begun = await store.beginResync(shard, await store.continuity(shard));
  const recovered = begun && (await store.endResync(shard, begun, positions));
  if (begun !== undefined) await store.release(begun);
  if (recovered === undefined) throw new Error(`the resync of shard ${shard} was refused`);
  return recovered.token;
}

/**
 * Points a board at a generation, or at none, as the scripts do: with a new version of the
 * pointers.
 */
export async function pointTo(redis: Redis, live: string, board: string, generation?: string) {
  if (generation === undefined) await redis.hdel(live, board);
  else await redis.hset(live, board, generation);
  await redis.hset(live, '', `1${(await redis.hget(live, '')) ?? ''}`);
}

/** A store with one board in one shard, and apply calls to it, by default for partition 0. */
export class StoreFixture {
  readonly store: BoardStore;
  readonly continuity: ContinuityStore;
  live: LiveBoard;
  /** The continuity that calls name. */
  token = '';
  /** The version of the pointers that calls name. */
  version = '';

  constructor(
    readonly redis: Redis,
    readonly keys: KeySpace,
  ) {
    this.store = new BoardStore(redis, keys, { shards: 1 });
    this.continuity = new ContinuityStore(redis, keys, { shards: 1 });
  }

  status(): StoreStatus {
    return new StoreStatus(this.redis, this.keys);
  }

  reader(): BoardReader {
    return new BoardReader({ redis: this.redis, prefix: this.keys.prefix });
  }

  async register(definition: BoardDefinition): Promise<this> {
    await this.store.claim();
    const { live } = await this.store.registerBoards([definition]);
    this.live = live.get(definition.board)!;
    await this.refresh();
    await this.compare();
    return this;
  }

  /**
   * Resyncs the shard with a Kafka that has these published positions; later calls name the new
   * continuity.
   */
  async compare(positions: ReadonlyMap<number, number> = new Map()): Promise<void> {
    this.token = await comparedToken(this.continuity, 0, positions);
  }

  /** Makes later calls name the present version of the pointers. */
  async refresh(): Promise<void> {
    this.version = (await this.store.boards()).versions[0]!;
  }

  /** The call that applies events at offsets from `from` on. `fields` replaces its other fields. */
  call(
    events: readonly ResolvedEvent[],
    fields: Partial<ApplyCall> & { from?: number } = {},
  ): ApplyCall {
    const { from = 0, ...others } = fields;
    const { board } = this.live;
    const entries: ApplyEntry[] = events.map((event, index) => ({
      kind: 'event',
      offset: from + index,
      board,
      event,
    }));
    return {
      shard: 0,
      partition: 0,
      believed: from - 1,
      published: 0,
      from,
      through: from + events.length - 1,
      entries,
      version: this.version,
      boards: new Map([[board, this.live]]),
      continuity: this.token,
      ...others,
    };
  }

  /** Applies events with the present version of the pointers, and returns their verdicts. */
  async apply(...args: Parameters<StoreFixture['call']>): Promise<readonly Verdict[]> {
    await this.refresh();
    return verdictsOf(await this.store.apply(this.call(...args)));
  }
}

export function verdictsOf(outcome: ApplyOutcome): readonly Verdict[] {
  if (outcome.status !== 'applied') throw new Error(`the call was refused: ${outcome.status}`);
  return outcome.verdicts;
}

export function changesOf({ changes }: RankChangeVerdict): RankMovement[] {
  return JSON.parse(`[${changes}]`) as RankMovement[];
}

/**
 * Each verdict as a short text: the ranks before and after each change, such as `- -> 1 (1)`; the
 * code of a dead letter; or `top` and the number of leaders.
 */
export function movements(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap((verdict) =>
    verdict.kind === 'rankChange'
      ? changesOf(verdict).map(({ before, after }) => `${place(before)} -> ${place(after)}`)
      : [verdict.kind === 'deadLetter' ? verdict.code : `top ${verdict.top.length}`],
  );
}

function place(placing: { rank: number; competitionRank?: number } | null): string {
  if (placing === null) return '-';
  const { rank, competitionRank } = placing;
  return competitionRank === undefined ? String(rank) : `${rank} (${competitionRank})`;
}

import { byBoard, liveBoardOf, parseOrigin, VERSION } from '../layout/boards.js';
import type { GenerationOverview } from '../layout/generation-types.js';
import type { KeySpace } from '../layout/keys.js';
import { heldLease } from '../layout/leases.js';
import { FIELDS_A_CALL, readHash } from '../layout/scans.js';
import { ShardedStore } from '../layout/sharded-store.js';
import { refusalOf } from '../lua/scripts.js';
import type { RedisClient } from '../layout/redis-client.js';

const VIEWS_PER_STEP = 100;

/** Lists the generations in Redis, discards those that nothing needs, and frees their memory. */
export class GenerationCatalog extends ShardedStore {
  /**
   * All generations except discarded ones, sorted by board. The live one of a board comes first.
   * Cost: sixteen requests per shard, more with thousands of boards.
   */
  async generations(): Promise<GenerationOverview[]> {
    const found = await this.perShard((shard) => this.#generationsOf(shard));
    return found.flat().sort(byBoard);
  }

  /**
   * Discards a snapshot; may be repeated. Returns false if this is the id of neither a snapshot nor
   * a discarded generation whose memory is not freed yet.
   */
  async removeSnapshot(generation: string): Promise<boolean> {
    for (const shard of this.allShards) {
      const reply = await this.#discard(shard, { from: 'snapshot', generation });
      if (reply === 1) return true;
    }
    return false;
  }

  /**
   * Discards the shadow of a killed build, verify or snapshot. Returns its board; undefined if
   * there is no such shadow.
   * @throws LeaseHeldError if it is in use
   */
  async discardShadow(generation: string): Promise<string | undefined> {
    for (const shard of this.allShards) {
      const shadows = await readHash(this.redis, this.keys.shadows(shard));
      for (const [board, entry] of shadows) {
        const [id, purpose] = entry.split(' ');
        // The shadow of a rollback counts as a previous generation.
        if (id !== generation || purpose === 'rollback') continue;

        const reply = await this.#discard(shard, { from: 'shadow', board, generation });
        if (refusalOf(reply) === 'leaseHeld') {
          const { error } = await heldLease(this.redis, this.keys.lease(shard, board), board);
          throw error;
        }
        return reply === 1 ? board : undefined;
      }
    }
    return undefined;
  }

  /**
   * Discards previous generations past their grace time and shadows of killed verifies. Shadows of
   * killed rollbacks become previous again. Frees some memory of discarded generations. Returns how
   * many steps it made; 0 if nothing is left to do. Processes can sweep concurrently.
   */
  async sweep(): Promise<number> {
    let steps = 0;
    for (const shard of this.allShards) steps += await this.#sweepShard(shard);
    return steps;
  }

  async #sweepShard(shard: number): Promise<number> {
    const isNeverResumed = (purpose: string) => purpose === 'verify' || purpose === 'rollback';
    const killed = await this.#discardThose(shard, 'shadow', isNeverResumed);

    const now = await this.serverTime(shard);
    const isOver = (keptUntil: string) => Number(keptUntil) * 1_000 <= now;
    const expired = await this.#discardThose(shard, 'previous', isOver);

    await this.#discardEmptied(shard);
    const discarded = await this.redis.smembers(this.keys.discarded(shard));
    for (const generation of discarded) {
      const mayHaveMore = await this.#deleteSome(shard, generation);
      if (!mayHaveMore) await this.#deleteTexts(shard, generation);
    }
    return killed + expired + discarded.length;
  }

  /** Discards some generations of a shard that was emptied: see lua/commands/end-resync-13.lua. */
  async #discardEmptied(shard: number): Promise<void> {
    const { keys, redis } = this;
    const found = (await redis.hrandfield(keys.emptied(shard), FIELDS_A_CALL)) as string[];
    if (found.length === 0) return;

    await redis.sadd(keys.discarded(shard), ...found);
    await redis.hdel(keys.emptied(shard), ...found);
  }

  /**
   * Discards the generations of a role for which `isUnneeded` returns true. `isUnneeded` gets the
   * second word of an entry: the purpose of a shadow, or the end of the grace time. Returns how
   * many were discarded.
   */
  async #discardThose(
    shard: number,
    from: 'shadow' | 'previous',
    isUnneeded: (word: string) => boolean,
  ): Promise<number> {
    const { keys, redis } = this;
    const key = from === 'shadow' ? keys.shadows(shard) : keys.previous(shard);
    let count = 0;
    for (const [board, entry] of await readHash(redis, key)) {
      const [generation = '', word = ''] = entry.split(' ');
      if (!isUnneeded(word)) continue;

      const reply = await this.#discard(shard, { from, board, generation });
      if (reply === 1) count += 1;
    }
    return count;
  }

  #discard(shard: number, move: Omit<Move, 'to'>): Promise<number> {
    return moveGeneration(this.redis, this.keys, shard, { ...move, to: 'discarded' });
  }

  /**
   * Frees some memory of a discarded generation: first its views, then everything else. Needs no
   * script, because nothing else writes to the generation. Returns whether it may have more views.
   */
  async #deleteSome(shard: number, generation: string): Promise<boolean> {
    const { keys, redis } = this;
    // Not a scan: although views are left, a scan from the start may find none, because it stops
    // among the slots of deleted views.
    const key = keys.views(shard, generation);
    const views = (await redis.hrandfield(key, VIEWS_PER_STEP)) as string[];
    if (views.length > 0) {
      const isDeleted = await this.#deleteReports(shard, generation, views);
      if (!isDeleted) return true;

      await redis.unlink(...views.flatMap((view) => keys.ofView(shard, generation, view)));
      await redis.hdel(key, ...views);
      return true;
    }

    // The facts show which partitions have event ids. The applied offsets can't: the shard may have
    // lost them.
    const facts = keys.facts(shard, generation);
    const eventIds: string[] = [];
    for (const field of await redis.hkeys(facts)) {
      const clock = /^clock:(\d+)$/.exec(field);
      if (clock !== null) eventIds.push(keys.eventIds(shard, generation, Number(clock[1])));
    }
    await redis.unlink(
      key,
      facts,
      keys.expiries(shard, generation),
      keys.bans(shard, generation),
      keys.appliedOffsetsOf(shard, generation),
      ...eventIds,
    );
    return false;
  }

  /**
   * Deletes leader reports of views that the live generation lacks. Returns false if another
   * generation went live meanwhile.
   */
  async #deleteReports(shard: number, generation: string, views: string[]): Promise<boolean> {
    const { keys, redis } = this;
    const text = await redis.hget(keys.definitions(shard), generation);
    if (text === null) return true;

    // Reads only the name, because a later version of ranklog may have written the definition.
    const { board } = JSON.parse(text) as { board: string };
    const live = await redis.hget(keys.live(shard), board);
    if (live === null) return true; // the leader reports were deleted with the board

    const reply = await redis.ranklogDeleteReports({
      live: keys.live(shard),
      liveViews: keys.views(shard, live),
      leaders: keys.leaders(shard, board),
      board,
      believedLive: live,
      views,
    });
    return refusalOf(reply) === undefined;
  }

  /**
   * Deletes the texts, then the id, in separate commands: Redis refuses transactions when its
   * memory is full.
   */
  async #deleteTexts(shard: number, generation: string): Promise<void> {
    const { keys, redis } = this;
    await redis.hdel(keys.definitions(shard), generation);
    await redis.hdel(keys.starts(shard), generation);
    await redis.hdel(keys.origins(shard), generation);
    await redis.srem(keys.discarded(shard), generation);
  }

  async #generationsOf(shard: number): Promise<GenerationOverview[]> {
    const { keys, redis } = this;
    const [live, previous, shadows, snapshots, promotions, definitions, starts, origins] =
      await Promise.all([
        readHash(redis, keys.live(shard)),
        readHash(redis, keys.previous(shard)),
        readHash(redis, keys.shadows(shard)),
        readHash(redis, keys.snapshots(shard)),
        readHash(redis, keys.promotions(shard)),
        readHash(redis, keys.definitions(shard)),
        readHash(redis, keys.starts(shard)),
        readHash(redis, keys.origins(shard)),
      ]);

    const listed: [generation: string, facts: Facts][] = [];
    for (const [board, generation] of live) {
      if (board === VERSION) continue;
      listed.push([generation, { role: 'live', since: sinceOf(promotions.get(board)) }]);
    }
    for (const entry of previous.values()) {
      const [generation = '', keptUntil] = entry.split(' ');
      listed.push([generation, { role: 'previous', keptUntil: Number(keptUntil) }]);
    }
    for (const entry of shadows.values()) {
      const [generation = ''] = entry.split(' ');
      listed.push([generation, { role: 'shadow' }]);
    }
    for (const generation of snapshots.keys()) listed.push([generation, { role: 'snapshot' }]);

    const found: GenerationOverview[] = [];
    for (const [generation, facts] of listed) {
      const text = definitions.get(generation);
      if (text === undefined) continue; // not built yet, or lost

      const { asOf, begunAt } = parseOrigin(origins.get(generation));
      const board = liveBoardOf(generation, text, starts.get(generation));
      found.push({ ...board, begunAt, asOf, ...facts });
    }
    return found;
  }
}

type Facts = Pick<GenerationOverview, 'role' | 'since' | 'keptUntil'>;

/**
 * A generation's move from one role to another. lua/commands/move-5.lua lists the allowed moves,
 * and what each needs.
 */
export interface Move {
  readonly from: 'shadow' | 'previous' | 'snapshot';
  readonly to: 'shadow' | 'snapshot' | 'discarded';
  readonly board?: string;
  readonly generation?: string;
  readonly token?: string;
}

export function moveGeneration(
  redis: RedisClient,
  keys: KeySpace,
  shard: number,
  { from, to, board = '', generation = '', token = '' }: Move,
): Promise<number> {
  const roles = keys.ofRoles(shard, board);
  return redis.ranklogMove({ ...roles, token, board, generation, from, to });
}

/** The time in ms of a promotion in us. */
function sinceOf(promotion: string | undefined): number | undefined {
  return promotion === undefined ? undefined : Math.floor(Number(promotion) / 1_000);
}

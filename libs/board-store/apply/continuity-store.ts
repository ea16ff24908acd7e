import { BUILDING, parseRecord, recordText, VERSION } from '../layout/boards.js';
import { LEASE_MS, releaseLease, renewLease, takeLease } from '../layout/leases.js';
import { partsOf, scanHash } from '../layout/scans.js';
import { ShardedStore } from '../layout/sharded-store.js';
import type { Continuity, RecoveryTarget, RecordIdentity } from '../layout/types.js';
import { refusalOf } from '../lua/scripts.js';

/** A resync under way: the continuity that endResync expects, and the lease. */
export interface BegunResync extends Continuity {
  readonly lease: { readonly key: string; readonly token: string; readonly ms: number };
}

/**
 * The parts of a definition record that a resync needs. `definition` is null for a removed board,
 * and absent if it can't be read.
 */
export interface Promoted {
  readonly since: number;
  readonly definition?: object | null;
}

export interface Recovered {
  readonly token: string;
  /**
   * Boards whose last promotion or removal the shard had lost. If there are any, the shard was
   * emptied and recovers from the start of the log.
   */
  readonly outdated: readonly string[];
}

/** Stores the data by which processes notice losses of Redis, and changes of the log. */
export class ContinuityStore extends ShardedStore {
  /** Cost: one short script. */
  async continuity(shard: number): Promise<Continuity> {
    const continuity = this.keys.continuity(shard);
    const [server, token, isContinued] = await this.redis.ranklogReadContinuity({ continuity });
    return { server, token, isContinued: isContinued === 1 };
  }

  /**
   * Begins a resync: until its end, the shard refuses all apply calls. Takes a lease of `ms` ms:
   * see `renew` and `release`. The new continuity is later than `after`, in us. Returns undefined
   * if the continuity of the shard is no longer `seen`, or if another process holds the lease.
   */
  async beginResync(
    shard: number,
    seen: Continuity,
    { ms = LEASE_MS, after = 0 }: { readonly ms?: number; readonly after?: number } = {},
  ): Promise<BegunResync | undefined> {
    const key = this.keys.resyncLease(shard);
    const lease = await takeLease(this.redis, { key, ms });
    if (lease === undefined) return undefined;

    const token = await this.redis.ranklogBeginResync({
      continuity: this.keys.continuity(shard),
      resyncLease: key,
      seen: seen.token,
      token: lease,
      after,
    });
    const begun = { ...seen, token, lease: { key, ms, token: lease } };
    if (token === '') {
      await this.release(begun);
      return undefined;
    }
    return begun;
  }

  /**
   * Extends the lease. Does not fail if the lease was lost: endResync finds out whether another
   * process has begun a resync.
   */
  async renew({ lease: { key, token, ms } }: BegunResync): Promise<void> {
    await renewLease(this.redis, key, token, ms);
  }

  /** Lets other processes begin a resync, even if this resync has not ended. */
  async release({ lease: { key, token } }: BegunResync): Promise<void> {
    await releaseLease(this.redis, key, token);
  }

  /**
   * Ends a resync. `positions` are the published positions of all partitions, read after their
   * publishers were fenced. `current` are the definition records in Kafka, by board. Partitions
   * below their position recover from now on. A shard that has lost a promotion or removal recovers
   * from the start of the log. Returns undefined if the shard has changed meanwhile: then repeat
   * the resync.
   * Cost: two requests for each thousand boards, and some more.
   */
  async endResync(
    shard: number,
    begun: Continuity,
    positions: ReadonlyMap<number, number>,
    current: ReadonlyMap<string, Promoted> = new Map(),
  ): Promise<Recovered | undefined> {
    const { keys } = this;
    const version = (await this.redis.hget(keys.live(shard), VERSION)) ?? '';
    const outdated = await this.#outdatedBoards(shard, current);
    const isOutdated = outdated.length > 0;
    if (isOutdated && !(await this.#deleteLeaders(shard, begun))) return undefined;

    const token = await this.redis.ranklogEndResync({
      continuity: keys.continuity(shard),
      recoveryTargets: keys.recoveryTargets(shard),
      appliedOffsets: keys.appliedOffsets(shard),
      published: keys.published(shard),
      live: keys.live(shard),
      registered: keys.registered(shard),
      records: keys.records(shard),
      promotions: keys.promotions(shard),
      shadows: keys.shadows(shard),
      previous: keys.previous(shard),
      definitions: keys.definitions(shard),
      snapshots: keys.snapshots(shard),
      emptied: keys.emptied(shard),
      outboxes: [...positions.keys()].map((partition) => keys.outbox(shard, partition)),
      server: begun.server,
      begun: begun.token,
      seenVersion: version,
      isOutdated: Number(isOutdated),
      positions: [...positions].flat(),
    });
    return token === '' ? undefined : { token, outdated };
  }

  /** The boards whose last promotion or removal the shard has lost; [] if it has no boards yet. */
  async #outdatedBoards(
    shard: number,
    current: ReadonlyMap<string, Promoted>,
  ): Promise<readonly string[]> {
    const { keys, redis } = this;
    const hasBoards = (await redis.exists(keys.registered(shard))) === 1;
    if (!hasBoards) return [];

    const outdated: string[] = [];
    const ofShard = [...current.keys()].filter((board) => this.shardOf(board) === shard);
    for (const boards of partsOf(ofShard)) {
      const [pointers, promotions] = await Promise.all([
        redis.hmget(keys.live(shard), ...boards),
        redis.hmget(keys.promotions(shard), ...boards),
      ]);
      for (const [index, board] of boards.entries()) {
        const stored = { pointer: pointers[index], since: Number(promotions[index] ?? 0) };
        if (hasLostPromotion(stored, current.get(board))) outdated.push(board);
      }
    }
    return outdated;
  }

  /** Deletes all leader reports of a shard. Returns false if the resync is no longer under way. */
  async #deleteLeaders(shard: number, { token }: Continuity): Promise<boolean> {
    const { keys, redis } = this;
    for await (const page of scanHash(redis, keys.live(shard))) {
      const reply = await redis.ranklogDeleteLeaders({
        continuity: keys.continuity(shard),
        leaders: page.map(([board]) => keys.leaders(shard, board)),
        begun: token,
      });
      if (refusalOf(reply) !== undefined) return false;
    }
    return true;
  }

  /**
   * Partitions below their recovery targets, sorted by shard and partition.
   * Cost: two requests per shard.
   */
  async recoveryTargets(): Promise<RecoveryTarget[]> {
    const found = await this.perShard(async (shard) => {
      const [targets, appliedOffsets] = await Promise.all([
        this.redis.hgetall(this.keys.recoveryTargets(shard)),
        this.redis.hgetall(this.keys.appliedOffsets(shard)),
      ]);
      const unsorted = Object.entries(targets).map(([partition, target]) => ({
        shard,
        partition: Number(partition),
        target: Number(target),
        applied: Number(appliedOffsets[partition] ?? -1) + 1,
      }));
      return unsorted.sort((a, b) => a.partition - b.partition);
    });
    return found.flat();
  }

  /**
   * Each shard stores the last record of a partition that it has applied. Returns the one with the
   * largest offset.
   */
  async lastRecord(partition: number): Promise<RecordIdentity | undefined> {
    const texts = await this.perShard((shard) =>
      this.redis.hget(this.keys.records(shard), String(partition)),
    );
    const records = texts.flatMap((text) => parseRecord(text) ?? []);
    return records.sort((a, b) => b.offset - a.offset)[0];
  }

  /** The last applied record at an earlier check of the log. Every start checks it again. */
  async checkedRecord(partition: number): Promise<RecordIdentity | undefined> {
    return parseRecord(await this.redis.hget(this.keys.checkedRecords(), String(partition)));
  }

  /**
   * Stores the record that checkedRecord returns. The last applied record alone can't reveal a
   * recreated topic, because it may already come from the new log.
   */
  async storeCheckedRecord(partition: number, record: RecordIdentity): Promise<void> {
    await this.redis.hset(this.keys.checkedRecords(), String(partition), recordText(record));
  }
}

/** Whether Kafka has a later promotion or removal of a board than the shard. */
function hasLostPromotion(
  stored: { readonly pointer: string | null | undefined; readonly since: number },
  current: Promoted | undefined,
): boolean {
  if (current === undefined) return false;

  // A removed board has no pointer, or BUILDING if it is being built again.
  const { pointer, since } = stored;
  const isGone = pointer === null || pointer === undefined || pointer === BUILDING;
  const isRemoved = current.definition === null;
  if (isRemoved && isGone) return false;
  return since < current.since;
}

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
 * A definition record, as far as a resync needs it. `definition` is null for a removed board, and
 * absent if it can't be read.
 */
export interface Promoted {
  readonly since: number;
  readonly definition?: object | null;
}

export interface Recovered {
  readonly token: string;
  /**
   * Boards whose last promotion or removal the shard had lost. If any, it was emptied and recovers
   * from the start of the log.
   */
  readonly outdated: readonly string[];
}

/**
 * Reads and writes what each shard stores so that processes notice losses of Redis, and changes of
 * the log.
 */
export class ContinuityStore extends ShardedStore {
  /** Cost: one short script. */
  async continuity(shard: number): Promise<Continuity> {
    const continuity = this.keys.continuity(shard);
    const reply = await this.redis.ranklogReadContinuity({ continuity });
    const [server, token, isContinued] = reply;
    return { server, token, isContinued: isContinued === 1 };
  }

  /**
   * Begins a resync: until its end, the shard refuses all apply calls. Takes a lease of `ms` ms
   * (`renew`, `release`). The new continuity is later than `after`, in µs. Returns undefined if the
   * continuity of the shard is no longer `seen`, or another process holds the lease.
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
    if (token !== '') return begun;
    await this.release(begun);
    return undefined;
  }

  /**
   * Extends the lease. A lost lease is no error here: endResync finds out whether another process
   * has begun a resync.
   */
  async renew({ lease: { key, token, ms } }: BegunResync): Promise<void> {
    await renewLease(this.redis, key, token, ms);
  }

  /** Lets other processes begin a resync, even if this one has not ended. */
  async release({ lease: { key, token } }: BegunResync): Promise<void> {
    await releaseLease(this.redis, key, token);
  }

  /**
   * Ends a resync. `positions` are the published positions of all partitions once their publishers
   * are fenced; `current` are the definition records of Kafka, by board. Partitions below their
   * position recover from now on; a shard that has lost a promotion or removal recovers from the
   * start of the log. Returns undefined if the shard has changed meanwhile: repeat the resync then.
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
    if (outdated.length > 0 && !(await this.#deleteLeaders(shard, begun))) return undefined;
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
      isOutdated: Number(outdated.length > 0),
      positions: [...positions].flat(),
    });
    return token === '' ? undefined : { token, outdated };
  }

  /**
   * The boards whose last promotion or removal the shard has lost; none if it has no boards yet.
   */
  async #outdatedBoards(
    shard: number,
    current: ReadonlyMap<string, Promoted>,
  ): Promise<readonly string[]> {
    const { keys, redis } = this;
    if ((await redis.exists(keys.registered(shard))) === 0) return [];
    const outdated: string[] = [];
    const ofShard = [...current.keys()].filter((board) => this.shardOf(board) === shard);
    for (const boards of partsOf(ofShard)) {
      const [pointers, promotions] = await Promise.all([
        redis.hmget(keys.live(shard), ...boards),
        redis.hmget(keys.promotions(shard), ...boards),
      ]);
      const found = boards.filter((board, index) => {
        const known = { pointer: pointers[index], since: Number(promotions[index] ?? 0) };
        return hasLostPromotion(known, current.get(board));
      });
      outdated.push(...found);
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
      return Object.entries(targets).map(([partition, target]) => ({
        shard,
        partition: Number(partition),
        target: Number(target),
        applied: Number(appliedOffsets[partition] ?? -1) + 1,
      }));
    });
    return found.flatMap((targets) => targets.sort((a, b) => a.partition - b.partition));
  }

  async lastRecord(partition: number): Promise<RecordIdentity | undefined> {
    const texts = await this.perShard((shard) =>
      this.redis.hget(this.keys.records(shard), String(partition)),
    );
    const records = texts.flatMap((text) => parseRecord(text) ?? []);
    return records.sort((a, b) => b.offset - a.offset)[0];
  }

  /**
   * The last applied record of a partition at an earlier check of the log. Every start checks it
   * again.
   */
  async checkedRecord(partition: number): Promise<RecordIdentity | undefined> {
    return parseRecord(await this.redis.hget(this.keys.checkedRecords(), String(partition)));
  }

  /**
   * For checkedRecord. The last applied record can't reveal a recreated topic if it already comes
   * from the new log.
   */
  async storeCheckedRecord(partition: number, record: RecordIdentity): Promise<void> {
    await this.redis.hset(this.keys.checkedRecords(), String(partition), recordText(record));
  }
}

/** What a shard has of a board, in comparison with Kafka. */
function hasLostPromotion(
  known: { readonly pointer: string | null | undefined; readonly since: number },
  current: Promoted | undefined,
): boolean {
  if (current === undefined) return false;
  // A removed board has no pointer, or BUILDING if it is being built again.
  const { pointer } = known;
  const isGone = pointer === null || pointer === undefined || pointer === BUILDING;
  return !(current.definition === null && isGone) && known.since < current.since;
}

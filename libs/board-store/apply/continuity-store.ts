import { parseRecord, recordText, VERSION } from '../layout/boards.js';
import { LEASE_MS, releaseLease, renewLease, takeLease } from '../layout/leases.js';
import { ShardedStore } from '../layout/sharded-store.js';
import type { Continuity, RecoveryTarget, RecordIdentity } from '../layout/types.js';

/** A resync under way: the continuity that endResync expects, and the lease. */
export interface BegunResync extends Continuity {
  readonly lease: { readonly key: string; readonly token: string; readonly ms: number };
}

/** A definition record, as far as a resync needs it. `definition` is null for a removed board, and absent if it can't be read. */
export interface Promoted {
  readonly since: number;
  readonly definition?: object | null;
}

export interface Recovered {
  readonly token: string;
  /** Boards whose last promotion or removal the shard had lost. If any, it was emptied and recovers from the start of the log. */
  readonly outdated: readonly string[];
}

/** Reads and writes what each shard stores so that processes notice losses of Redis, and changes of the log. */
export class ContinuityStore extends ShardedStore {
  /** Cost: one short script. */
  async continuity(shard: number): Promise<Continuity> {
    const continuity = this.keys.continuity(shard);
    const reply = await this.redis.ranklogReadContinuity({ continuity });
    const [server, token, isContinued] = reply;
    return { server, token, isContinued: isContinued === 1 };
  }

  /**
   * Begins a resync: until its end, the shard refuses all apply calls. Takes a lease of `ms` ms (`renew`, `release`).
   * The new continuity is later than `after`, in µs. Returns undefined if the continuity of the shard is no longer `seen`, or another process holds the lease.
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

  /** Extends the lease. A lost lease is no error here: endResync finds out whether another process has begun a resync. */
  async renew({ lease: { key, token, ms } }: BegunResync): Promise<void> {
    await renewLease(this.redis, key, token, ms);
  }

  /** Lets other processes begin a resync, even if this one has not ended. */
  async release({ lease: { key, token } }: BegunResync): Promise<void> {
    await releaseLease(this.redis, key, token);
  }

  /**
   * Ends a resync. `positions` are the published positions of all partitions once their publishers are fenced; `current` are the
   * definition records of Kafka, by board. Partitions below their position recover from now on; a shard that has lost a promotion
   * or removal recovers from the start of the log. Returns undefined if the shard has changed meanwhile: repeat the resync then.
   */
  async endResync(
    shard: number,
    begun: Continuity,
    positions: ReadonlyMap<number, number>,
    current: ReadonlyMap<string, Promoted> = new Map(),
  ): Promise<Recovered | undefined> {
    const { keys } = this;
    const fields = await this.redis.hkeys(keys.live(shard));
    const live = fields.filter((field) => field !== VERSION);
    const ofShard = [...current.keys()].filter((board) => this.shardOf(board) === shard);
    const boards = [...new Set([...live, ...ofShard])];
    const [token, ...outdated] = await this.redis.ranklogEndResync({
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
      discarded: keys.discarded(shard),
      outboxes: [...positions.keys()].map((partition) => keys.outbox(shard, partition)),
      leaders: boards.map((board) => keys.leaders(shard, board)),
      server: begun.server,
      begun: begun.token,
      partitionCount: positions.size,
      positions: [...positions].flat(),
      boards: boards.flatMap((board) => [board, ...promotionOf(current.get(board))]),
    });
    return token === undefined ? undefined : { token, outdated };
  }

  /** Partitions below their recovery targets, sorted by shard and partition. Cost: two requests per shard. */
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

  /** The last applied record of a partition at an earlier check of the log. Every start checks it again. */
  async checkedRecord(partition: number): Promise<RecordIdentity | undefined> {
    return parseRecord(await this.redis.hget(this.keys.checkedRecords(), String(partition)));
  }

  /** For checkedRecord. The last applied record can't reveal a recreated topic if it already comes from the new log. */
  async storeCheckedRecord(partition: number, record: RecordIdentity): Promise<void> {
    await this.redis.hset(this.keys.checkedRecords(), String(partition), recordText(record));
  }
}

/** When the board was last promoted or removed according to Kafka (0: never), and whether it is defined since then. */
function promotionOf(current: Promoted | undefined): [number, 0 | 1] {
  return current === undefined ? [0, 0] : [current.since, current.definition === null ? 0 : 1];
}

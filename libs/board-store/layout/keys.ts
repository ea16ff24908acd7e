// To add a key: add it here, with its type, what it holds and for how long. Raise LAYOUT if older
// code would misread a new form, and say so in the changelog. To change how long Redis keeps
// something: lua/commands/apply-7.lua cuts the outbox; for an idle partition, this happens every
// KEEP_UP_EVERY_MS (src/ingest/partition-ingest.ts). lua/commands/sweep-6.lua deletes expired
// views, lua/includes/board.lua drops event ids, and the setting `rollbackGrace` bounds previous
// generations.

import { createHash } from 'node:crypto';

/**
 * The version of the layout. It is a part of the keys of each shard: a ranklog with another layout
 * finds no boards, so it misreads none.
 */
const LAYOUT = 4;

/**
 * Every key of ranklog in Redis, with its type and what it holds. `a -> b` is a hash field and its
 * value, or a member and its score. All keys of a shard have its hash tag, so each script stays in
 * one slot of a cluster. The tag includes the prefix, so that shards of several ranklogs can be on
 * different nodes of a cluster.
 */
export class KeySpace {
  constructor(readonly prefix: string) {}

  /** string: number of shards; fixed when a ranklog first claims Redis */
  readonly shards = () => `${this.prefix}:shards`;
  /**
   * hash: partition -> the last applied record at an earlier check of the log, as in `records`;
   * every start checks it again
   */
  readonly checkedRecords = () => this.#key(0, 'checked-records');

  /**
   * hash: board -> id of its live generation, or `-` while its first one is being built; the empty
   * name -> version of these pointers, space, identity (lua/includes/shard.lua)
   */
  readonly live = this.#ofShard('live');
  /** string: exists once the boards of the shard, if any, have been registered */
  readonly registered = this.#ofShard('registered');
  /**
   * string: replication id of the server, space, time in us of the last resync
   * (lua/includes/continuity.lua)
   */
  readonly continuity = this.#ofShard('continuity');
  /** string: lease of the process that resyncs the shard; expires */
  readonly resyncLease = this.#ofShard('comparison');
  /** hash: partition -> recovery target; only of partitions below their target */
  readonly recoveryTargets = this.#ofShard('recovery-targets');
  /** hash: partition -> applied offset */
  readonly appliedOffsets = this.#ofShard('applied-offsets');
  /** hash: partition -> offset, timestamp in ms and hash of the last applied record */
  readonly records = this.#ofShard('records');
  /** hash: partition -> the largest published position that a call or a resync has named */
  readonly published = this.#ofShard('published');
  /** zset: verdicts of an apply call -> its last offset; only from the published position on */
  readonly outbox = (shard: number, partition: number) => this.#key(shard, `outbox:${partition}`);

  /** hash: generation -> JSON of its definition; of every generation that still has keys */
  readonly definitions = this.#ofShard('definitions');
  /**
   * hash: generation -> JSON of its start offsets by partition; only generations that begin later
   * than the log
   */
  readonly starts = this.#ofShard('starts');
  /**
   * hash: generation -> JSON of its Origin; not of generations that went live without a build
   * (register-7.lua)
   */
  readonly origins = this.#ofShard('origins');
  /** hash: board -> time in us at which its pointer last moved; only grows */
  readonly promotions = this.#ofShard('promotions');
  /** hash: board -> previous generation, space, time in ms until which it is kept for a rollback */
  readonly previous = this.#ofShard('previous');
  /**
   * hash: board -> its shadow, purpose (a build has its state instead:
   * lua/commands/rank-shadow-4.lua) and, for a rollback, end of the grace time in ms
   * (lua/includes/lease.lua)
   */
  readonly shadows = this.#ofShard('shadows');
  /** hash: snapshot (a generation) -> board */
  readonly snapshots = this.#ofShard('snapshots');
  /**
   * hash: generation -> JSON of its definition; only generations of a shard that was emptied, until
   * the sweep discards them
   */
  readonly emptied = this.#ofShard('emptied');
  /** set: generations whose memory is to be freed */
  readonly discarded = this.#ofShard('discarded');
  /** set: boards that were removed by a command, also before they were live */
  readonly removed = this.#ofShard('removed');

  /**
   * string: token of the holder; expires. The name decides what the holder may do. `BOARD`: write
   * to the shadow of the board; `BOARD (import)`: import into the board; `(periods)`: announce the
   * results of closed windows
   */
  readonly lease = this.#ofBoard('lease');
  /** hash: board -> JSON of its running or last reconciliation */
  readonly reconciliations = this.#ofShard('reconciliations');
  /** hash: view -> version and top N as last reported (lua/includes/leaders.lua) */
  readonly leaders = this.#ofBoard('leaders');

  /** hash: partition -> applied offset of the generation; not of live generations */
  readonly appliedOffsetsOf = this.#ofGeneration('applied-offsets');
  /** hash: view -> view version */
  readonly views = this.#ofGeneration('views');
  /** zset: view -> time in ms of the event clock at which it expires; only views that expire */
  readonly expiries = this.#ofGeneration('expiries');
  /**
   * hash: `clock`, `clock:<partition>` (ms), `expired`, `duplicates`, `tooManyViews` (events),
   * `floor` (a smaller view version is read as this one), `version` (the largest view version),
   * `unsettled:<partition> <offset>` (player id: lua/includes/settle.lua)
   */
  readonly facts = this.#ofGeneration('facts');
  /** hash: player id -> entry of the player record that counts (lua/includes/ban-register.lua) */
  readonly bans = this.#ofGeneration('bans');
  /** zset: event id and player id -> time in ms of the event (lua/includes/board.lua) */
  readonly eventIds = (shard: number, generation: string, partition: number) =>
    this.#key(shard, `${generation}:event-ids:${partition}`);
  /** zset: member (lua/includes/member.lua) -> first column in sort direction */
  readonly ranking = this.#ofView('ranking');
  /** hash: player id -> state (libs/board/state.ts) */
  readonly players = this.#ofView('players');

  ofView(shard: number, generation: string, view: string): [ranking: string, players: string] {
    return [this.ranking(shard, generation, view), this.players(shard, generation, view)];
  }

  /** The keys of lua/includes/roles.lua. */
  ofRoles(shard: number, board: string) {
    return {
      lease: this.lease(shard, board),
      shadows: this.shadows(shard),
      previous: this.previous(shard),
      snapshots: this.snapshots(shard),
      discarded: this.discarded(shard),
    };
  }

  #ofShard(name: string) {
    return (shard: number) => this.#key(shard, name);
  }

  #ofBoard(name: string) {
    return (shard: number, board: string) => this.#key(shard, `${name}:${board}`);
  }

  #ofGeneration(name: string) {
    return (shard: number, generation: string) => this.#key(shard, `${generation}:${name}`);
  }

  #ofView(name: string) {
    return (shard: number, generation: string, view: string) =>
      this.#key(shard, `${generation}:${name}:${view}`);
  }

  /** The slot of a Redis Cluster in which the keys of a shard are. */
  slot(shard: number): number {
    return slotOf(this.#tag(shard));
  }

  #key(shard: number, name: string): string {
    return `${this.prefix}:${LAYOUT}:{${this.#tag(shard)}}:${name}`;
  }

  #tag(shard: number): string {
    return `${this.prefix}:${shard}`;
  }
}

/** The number of slots of a Redis Cluster. */
export const SLOTS = 16_384;

/** The slot of a hash tag: its CRC16 (XMODEM), modulo the number of slots. */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      const hasHighBit = (crc & 0x8000) !== 0;
      crc = (crc << 1) & 0xffff;
      if (hasHighBit) crc ^= 0x1021;
    }
  }
  return crc % SLOTS;
}

/** The shard of a board: the first 4 bytes of its name's SHA-256, modulo the number of shards. */
export function shardOf(board: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash('sha256').update(board).digest().readUInt32BE(0) % shards;
}

/**
 * Every key name of ranklog in Redis. All keys of a shard carry its hash tag, so a script touches one cluster slot.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `<prefix>:shards` | string | number of shards; fixed when the first instance starts |
 * | `<prefix>:{<shard>}:live` | hash | board -> id of its live generation; `-` while its first one is being built; the empty name -> version of these pointers, space, identity of the ranklog: see pointers.lua |
 * | `<prefix>:{<shard>}:registered` | string | there once the boards of the shard, if any, have been made live |
 * | `<prefix>:{<shard>}:continuity` | string | replication id of the server, space, time in us at which the shard was last compared with Kafka |
 * | `<prefix>:{<shard>}:comparison` | string | lease of the process that compares the shard with Kafka; expires |
 * | `<prefix>:{<shard>}:recovery-targets` | hash | partition -> recovery target; of those that are below theirs |
 * | `<prefix>:{<shard>}:applied-offsets` | hash | partition -> last offset whose effect is here |
 * | `<prefix>:{<shard>}:records` | hash | partition -> offset, timestamp in ms and hash of the last record below the applied offset |
 * | `<prefix>:{0}:checked-records` | hash | partition -> the same of an older record that is looked for in the log time and again |
 * | `<prefix>:{<shard>}:published` | hash | partition -> published position, as last heard from Kafka |
 * | `<prefix>:{<shard>}:outbox:<partition>` | zset | verdicts of an apply call by its last offset, from the published position on |
 * | `<prefix>:{<shard>}:definitions` | hash | generation -> JSON of its definition; of every generation whose keys are in use |
 * | `<prefix>:{<shard>}:starts` | hash | generation -> JSON of the offsets at which it begins, by partition; only of those that begin later than the log |
 * | `<prefix>:{<shard>}:origins` | hash | generation -> JSON of what it was made for, and when; of those that were built beside a live one |
 * | `<prefix>:{<shard>}:promotions` | hash | board -> us at which its pointer was last moved; only grows |
 * | `<prefix>:{<shard>}:previous` | hash | board -> generation that was live before, space, ms until which it is kept for a rollback |
 * | `<prefix>:{<shard>}:shadows` | hash | board -> generation that is being brought to the live applied offsets, and its purpose: see lease.lua |
 * | `<prefix>:{<shard>}:removed` | set | boards that were live and were removed by a command |
 * | `<prefix>:{<shard>}:snapshots` | hash | generation, read-only -> board |
 * | `<prefix>:{<shard>}:discarded` | set | generations whose memory is to be given back |
 * | `<prefix>:{<shard>}:lease:<board>` | string | token of who may write to the shadow of a board; expires |
 * | `<prefix>:{<shard>}:reconciliations` | hash | board -> JSON of its running or last reconciliation |
 * | `<prefix>:{<shard>}:leaders:<board>` | hash | view -> top N as last reported, with its version |
 * | `<prefix>:{<shard>}:<generation>:applied-offsets` | hash | partition -> last offset whose effect is in it; of all but live ones |
 * | `<prefix>:{<shard>}:<generation>:views` | hash | view -> view version |
 * | `<prefix>:{<shard>}:<generation>:expiries` | zset | view -> ms of the event clock at which it expires; only those that do |
 * | `<prefix>:{<shard>}:<generation>:facts` | hash | `clock`, `clock:<partition>` (ms), `expired`, `duplicates`, `tooManyViews` (events), `floor` (view versions are larger), `version` (the largest of its views) |
 * | `<prefix>:{<shard>}:<generation>:event-ids:<partition>` | zset | event id and player id -> ms: see event-ids.lua |
 * | `<prefix>:{<shard>}:<generation>:ranking:<view>` | zset | member and score: see sort-key.ts in libs/board; not of the shadow of a verify |
 * | `<prefix>:{<shard>}:<generation>:players:<view>` | hash | player id -> state: see state.ts in libs/board |
 */
export class KeySpace {
  constructor(readonly prefix: string) {}

  shards(): string {
    return `${this.prefix}:shards`;
  }

  live(shard: number): string {
    return this.#key(shard, 'live');
  }

  registered(shard: number): string {
    return this.#key(shard, 'registered');
  }

  continuity(shard: number): string {
    return this.#key(shard, 'continuity');
  }

  comparison(shard: number): string {
    return this.#key(shard, 'comparison');
  }

  recoveryTargets(shard: number): string {
    return this.#key(shard, 'recovery-targets');
  }

  checkedRecords(): string {
    return this.#key(0, 'checked-records');
  }

  records(shard: number): string {
    return this.#key(shard, 'records');
  }

  appliedOffsets(shard: number): string {
    return this.#key(shard, 'applied-offsets');
  }

  published(shard: number): string {
    return this.#key(shard, 'published');
  }

  outbox(shard: number, partition: number): string {
    return this.#key(shard, `outbox:${partition}`);
  }

  definitions(shard: number): string {
    return this.#key(shard, 'definitions');
  }

  starts(shard: number): string {
    return this.#key(shard, 'starts');
  }

  origins(shard: number): string {
    return this.#key(shard, 'origins');
  }

  promotions(shard: number): string {
    return this.#key(shard, 'promotions');
  }

  previous(shard: number): string {
    return this.#key(shard, 'previous');
  }

  shadows(shard: number): string {
    return this.#key(shard, 'shadows');
  }

  snapshots(shard: number): string {
    return this.#key(shard, 'snapshots');
  }

  removed(shard: number): string {
    return this.#key(shard, 'removed');
  }

  discarded(shard: number): string {
    return this.#key(shard, 'discarded');
  }

  lease(shard: number, board: string): string {
    return this.#key(shard, `lease:${board}`);
  }

  reconciliations(shard: number): string {
    return this.#key(shard, 'reconciliations');
  }

  leaders(shard: number, board: string): string {
    return this.#key(shard, `leaders:${board}`);
  }

  appliedOffsetsOf(shard: number, generation: string): string {
    return this.#key(shard, `${generation}:applied-offsets`);
  }

  views(shard: number, generation: string): string {
    return this.#key(shard, `${generation}:views`);
  }

  expiries(shard: number, generation: string): string {
    return this.#key(shard, `${generation}:expiries`);
  }

  facts(shard: number, generation: string): string {
    return this.#key(shard, `${generation}:facts`);
  }

  eventIds(shard: number, generation: string, partition: number): string {
    return this.#key(shard, `${generation}:event-ids:${partition}`);
  }

  ranking(shard: number, generation: string, view: string): string {
    return this.#key(shard, `${generation}:ranking:${view}`);
  }

  players(shard: number, generation: string, view: string): string {
    return this.#key(shard, `${generation}:players:${view}`);
  }

  /** What is stored of one view of a generation. */
  ofView(shard: number, generation: string, view: string): [ranking: string, players: string] {
    return [this.ranking(shard, generation, view), this.players(shard, generation, view)];
  }

  #key(shard: number, name: string): string {
    return `${this.prefix}:{${shard}}:${name}`;
  }
}

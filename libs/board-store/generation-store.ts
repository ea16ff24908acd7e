import { definitionHash, definitionText, type BoardDefinition } from '#board';
import { liveBoardOf, BUILDING, startsText } from './boards.js';
import { catchUpArguments, catchUpOutcome, type ShadowPlace } from './catch-up-arguments.js';
import { beginComparison, comparisonEnding, readComparison } from './comparison.js';
import { LeaseLostError, NoPreviousGenerationError } from './errors.js';
import type {
  CatchUpOutcome,
  ComparisonStep,
  Lease,
  Shadow,
  ShadowPurpose,
  Stretch,
} from './generation-types.js';
import { LEASE_LOST, moveGeneration, roleKeys, type Move } from './moves.js';
import { originText, parseOrigin, type Origin } from './origin.js';
import type { CatchUpReply } from './scripts.js';
import { ShardedStore } from './sharded-store.js';
import type { Starts } from './types.js';

/** What a generation is to be made of; see Shadow. `asOf` is the moment that a snapshot shows, in ms. */
export interface NewShadow {
  readonly definition: BoardDefinition;
  readonly purpose: Exclude<ShadowPurpose, 'rollback'>;
  readonly starts?: Starts;
  readonly ends?: Starts;
  readonly asOf?: number;
}

/** What a promotion did: when, in us of the server's clock, and which generation it left behind. */
export interface Promotion {
  readonly since: number;
  readonly previous?: string;
}

/**
 * Generations beside the live one: begun, brought to the live applied offsets, and made live, compared or kept in the same atomic
 * step. Every write needs the board's lease; every method may be repeated.
 */
export class GenerationStore extends ShardedStore {
  /**
   * The live generation of boards as last read: a call takes no time to ask. The scripts refuse another one. Read anew for each
   * shadow, as others may have moved the pointer before.
   */
  readonly #believed = new Map<string, string>();

  /** The generation of a board that is being worked on, or that somebody who was killed has left. */
  async shadow(board: string): Promise<Shadow | undefined> {
    this.#believed.delete(board);
    const shard = this.shardOf(board);
    const entry = await this.redis.hget(this.keys.shadows(shard), board);
    if (entry === null) return undefined;
    const [generation = '', purpose] = entry.split(' ');
    const [text, starts, origin] = await Promise.all([
      this.redis.hget(this.keys.definitions(shard), generation),
      this.redis.hget(this.keys.starts(shard), generation),
      this.redis.hget(this.keys.origins(shard), generation),
    ]);
    if (text === null) return undefined;
    const { ends } = parseOrigin(origin);
    return {
      ...liveBoardOf(board, { generation, text, starts }),
      purpose: purpose as ShadowPurpose,
      ...(ends === undefined ? {} : { ends }),
    };
  }

  /** The applied offset of each partition that the shadow has come to. */
  async shadowAppliedOffsets({ board, generation }: Shadow): Promise<Map<number, number>> {
    return this.#appliedOffsets(this.keys.appliedOffsetsOf(this.shardOf(board), generation));
  }

  /** The applied offset of each partition in the board's shard. */
  async liveAppliedOffsets(board: string): Promise<Map<number, number>> {
    return this.#appliedOffsets(this.keys.appliedOffsets(this.shardOf(board)));
  }

  /** Begins a shadow; another one of the board is discarded. @throws LeaseLostError */
  async begin(
    lease: Lease,
    { definition, purpose, starts, ends, asOf }: NewShadow,
  ): Promise<Shadow> {
    const { board } = lease;
    this.#believed.delete(board);
    const shard = this.shardOf(board);
    const now = await this.serverTime();
    const generation = `${now}-${definitionHash(definition)}`;
    const origin: Origin = { purpose, begunAt: Math.floor(now / 1_000), asOf, ends };
    const reply = await this.redis.ranklogBeginShadow(
      9,
      ...roleKeys(this.keys, shard, board),
      this.keys.definitions(shard),
      this.keys.starts(shard),
      this.keys.origins(shard),
      this.keys.appliedOffsetsOf(shard, generation),
      lease.token,
      board,
      generation,
      purpose,
      definitionText(definition),
      starts === undefined ? '' : startsText(starts),
      originText(origin),
      ...[...(starts ?? [])].flatMap(([partition, from]) => [partition, from - 1]),
    );
    if (reply === LEASE_LOST) throw new LeaseLostError(board);
    const parts = { ...(starts && { starts }), ...(ends && { ends }) };
    return { board, generation, definition, purpose, ...parts };
  }

  /** Makes the previous generation the shadow. @throws LeaseLostError, NoPreviousGenerationError */
  async beginRollback(lease: Lease): Promise<Shadow> {
    const { board } = lease;
    const reply = await this.#move(lease, { from: 'previous', to: 'shadow' });
    const shadow = reply === 0 ? undefined : await this.shadow(board);
    if (shadow === undefined) throw new NoPreviousGenerationError(board);
    return shadow;
  }

  /** Discards a shadow; nothing happens to a generation that is no shadow any more. @throws LeaseLostError */
  async discard(lease: Lease, { generation }: Shadow): Promise<void> {
    await this.#move(lease, { from: 'shadow', to: 'discarded', generation });
  }

  /** Brings a shadow nearer to the live applied offsets. */
  async catchUp(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
  ): Promise<CatchUpOutcome<never>> {
    const place = this.#place(lease, shadow);
    return catchUpOutcome(await this.redis.ranklogBuild(...catchUpArguments(place, stretches)));
  }

  /** Brings a shadow to the live applied offsets and makes it live; what was live is kept for `graceMs`. */
  async promote(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
    { graceMs }: { graceMs: number },
  ): Promise<CatchUpOutcome<Promotion>> {
    const place = this.#place(lease, shadow);
    const { keys, shard } = place;
    const live = await this.#live(shadow.board);
    const ending = {
      keys: [
        keys.promotions(shard),
        keys.previous(shard),
        keys.discarded(shard),
        keys.removed(shard),
        keys.facts(shard, shadow.generation),
        keys.facts(shard, live),
        keys.appliedOffsetsOf(shard, live),
        keys.leaders(shard, shadow.board),
      ],
      arguments: [live, graceMs, shadow.definition.publish.leaders],
    };
    const reply = await this.redis.ranklogPromote(...catchUpArguments(place, stretches, ending));
    const previous = live === BUILDING || live === shadow.generation ? {} : { previous: live };
    const outcome = this.#outcome<Promotion>(shadow, reply, ([since]) => ({
      since: Number(since),
      ...previous,
    }));
    if (outcome.status === 'applied' && outcome.ending !== undefined)
      this.#believed.set(shadow.board, shadow.generation);
    return outcome;
  }

  /** Brings a shadow to the live applied offsets and compares some of it with the live generation; without a cursor, from the beginning. */
  async compare(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
    cursor = beginComparison(shadow, stretches),
  ): Promise<CatchUpOutcome<ComparisonStep>> {
    const place = this.#place(lease, shadow);
    const ending = comparisonEnding(place, await this.#live(shadow.board), cursor);
    const reply = await this.redis.ranklogCompareGenerations(
      ...catchUpArguments(place, stretches, ending),
    );
    return this.#outcome(shadow, reply, (words) => readComparison(cursor, words));
  }

  /** Keeps a shadow as a read-only snapshot. @throws LeaseLostError */
  async keep(lease: Lease, { board, generation }: Shadow): Promise<void> {
    const reply = await this.#move(lease, { from: 'shadow', to: 'snapshot', generation });
    if (reply === 0) throw new LeaseLostError(board); // somebody else has discarded the shadow
  }

  /** Makes a board unknown again that was registered, and is not live yet; nothing happens to another one. @throws LeaseLostError */
  async unregister(lease: Lease): Promise<void> {
    const { board, token } = lease;
    const shard = this.shardOf(board);
    const all = [...roleKeys(this.keys, shard, board), this.keys.live(shard)];
    const reply = await this.redis.ranklogUnregister(6, ...all, token, board);
    if (reply === LEASE_LOST) throw new LeaseLostError(board);
  }

  /** Removes a board; answers when, in us of the server's clock, 0 when there was none. @throws LeaseLostError */
  async remove(lease: Lease): Promise<number> {
    const { board, token } = lease;
    const shard = this.shardOf(board);
    const { keys } = this;
    const reply = await this.redis.ranklogRemove(
      9,
      ...roleKeys(keys, shard, board),
      keys.live(shard),
      keys.promotions(shard),
      keys.removed(shard),
      keys.leaders(shard, board),
      token,
      board,
    );
    if (reply === LEASE_LOST) throw new LeaseLostError(board);
    return Number(reply);
  }

  async #move({ board, token }: Lease, move: Move): Promise<number> {
    const place = { ...move, board, token };
    const reply = await moveGeneration(this.redis, this.keys, this.shardOf(board), place);
    if (reply === LEASE_LOST) throw new LeaseLostError(board);
    return reply;
  }

  #place(lease: Lease, shadow: Shadow): ShadowPlace {
    return { keys: this.keys, shard: this.shardOf(shadow.board), lease, shadow };
  }

  /** The live generation of a board as last read, BUILDING for none. */
  async #live(board: string): Promise<string> {
    const known = this.#believed.get(board);
    if (known !== undefined) return known;
    const live = (await this.redis.hget(this.keys.live(this.shardOf(board)), board)) ?? BUILDING;
    this.#believed.set(board, live);
    return live;
  }

  #outcome<Ending>(
    { board }: Shadow,
    reply: number | CatchUpReply,
    readEnding: (words: string[]) => Ending,
  ): CatchUpOutcome<Ending> {
    const outcome = catchUpOutcome(reply, readEnding);
    if (outcome.status === 'generationChanged') this.#believed.delete(board);
    return outcome;
  }

  async #appliedOffsets(key: string): Promise<Map<number, number>> {
    const appliedOffsets = await this.redis.hgetall(key);
    return new Map(
      Object.entries(appliedOffsets).map(([partition, offset]) => [
        Number(partition),
        Number(offset),
      ]),
    );
  }
}

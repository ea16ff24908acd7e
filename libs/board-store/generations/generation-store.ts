import { runArguments } from '../apply/run-arguments.js';
import { definitionHash, definitionText, parseDefinitionText, type BoardDefinition } from '#board';
import {
  BUILDING,
  liveBoardOf,
  offsetsOf,
  originText,
  parseOrigin,
  startsText,
  type Origin,
} from '../layout/boards.js';
import { scanBans } from '../layout/ban-register.js';
import type {
  CatchUpOutcome,
  ComparisonStep,
  JoinedRecords,
  Lease,
  PromoteOptions,
  RankingStep,
  Shadow,
  ShadowPurpose,
  Stretch,
  UnsettledRecord,
} from '../layout/generation-types.js';
import { ShardedStore } from '../layout/sharded-store.js';
import { LeaseLostError, NoPreviousGenerationError } from '../layout/store-errors.js';
import { TIE_SIGNS } from '../layout/ties.js';
import type { LiveBoard } from '../layout/types.js';
import { refusalOf, type CatchUpReply } from '../lua/scripts.js';
import {
  beginComparison,
  catchUpArguments,
  catchUpOutcome,
  comparisonEnding,
  BEGIN_RANKING,
  promotionEnding,
  readComparison,
  readRanking,
  type ShadowPlace,
} from './catch-up-arguments.js';
import { moveGeneration, type Move } from './generation-catalog.js';

/** A shadow to begin; see Shadow. `asOf` is the moment that a snapshot shows, in ms. */
export interface NewShadow extends Pick<Shadow, 'definition' | 'starts' | 'ends'> {
  readonly purpose: Exclude<ShadowPurpose, 'rollback'>;
  readonly asOf?: number;
}

/** States of a build, stored in place of its purpose: see lua/commands/rank-shadow-4.lua. */
export const UNRANKED = 'unranked';
const RANKING = 'ranking';

/** The shadow can't be promoted before its player records are settled. */
export const UNSETTLED = 'unsettled';

/** The shadow can't be promoted before it takes over more player records of live ingest. */
export const MISSED = 'missed';

/** Why a shadow is not promoted yet. */
type NotReady = typeof UNRANKED | typeof UNSETTLED | typeof MISSED;
const NOT_READY: readonly string[] = [UNRANKED, UNSETTLED, MISSED] satisfies NotReady[];

/** The most views that one call ranks. */
const VIEWS_PER_CALL = 100;

/** A promotion: its time in us of the server's clock, and the generation that was live before. */
export interface Promotion {
  readonly since: number;
  readonly previous?: string;
}

/** Writes and moves shadows. Each write needs the lease of the board, and may be repeated. */
export class GenerationStore extends ShardedStore {
  /**
   * By board, the live generation as last read, to save requests. Scripts refuse calls that name an
   * outdated generation. It is read again for each shadow.
   */
  readonly #believed = new Map<string, string>();

  /** The shadow of a board, even if the process that began it was killed. */
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
    const isUnfinishedBuild = purpose === UNRANKED || purpose === RANKING;
    return {
      ...liveBoardOf(generation, text, starts),
      purpose: isUnfinishedBuild ? 'build' : (purpose as ShadowPurpose),
      ...(ends && { ends }),
    };
  }

  async shadowAppliedOffsets({ board, generation }: Shadow): Promise<Map<number, number>> {
    const key = this.keys.appliedOffsetsOf(this.shardOf(board), generation);
    return offsetsOf(await this.redis.hgetall(key));
  }

  async liveAppliedOffsets(board: string): Promise<Map<number, number>> {
    return offsetsOf(await this.redis.hgetall(this.keys.appliedOffsets(this.shardOf(board))));
  }

  /**
   * Begins a shadow. Discards an earlier shadow of the board; the shadow of a rollback becomes
   * previous again.
   * @throws LeaseLostError
   */
  async begin(
    lease: Lease,
    { definition, purpose, starts, ends, asOf }: NewShadow,
  ): Promise<Shadow> {
    const { board } = lease;
    this.#believed.delete(board);
    const shard = this.shardOf(board);
    const now = await this.serverTime(shard);
    const generation = `${now}-${definitionHash(definition)}`;
    const origin: Origin = { purpose, begunAt: Math.floor(now / 1_000), asOf, ends };
    const initialOffsets = [...(starts ?? [])].flatMap(([partition, from]) => [
      partition,
      from - 1,
    ]);

    const reply = await this.redis.ranklogBeginShadow({
      ...this.keys.ofRoles(shard, board),
      definitions: this.keys.definitions(shard),
      starts: this.keys.starts(shard),
      origins: this.keys.origins(shard),
      shadowAppliedOffsets: this.keys.appliedOffsetsOf(shard, generation),
      token: lease.token,
      board,
      generation,
      purpose: purpose === 'build' ? UNRANKED : purpose,
      definition: definitionText(definition),
      startOffsets: startsText(starts),
      origin: originText(origin),
      initialOffsets,
    });
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);

    return {
      board,
      generation,
      definition,
      purpose,
      ...(starts && { starts }),
      ...(ends && { ends }),
    };
  }

  /** The definition that a rollback would make live; undefined if there is none. */
  async previousDefinition(board: string): Promise<BoardDefinition | undefined> {
    const shadow = await this.shadow(board);
    if (shadow?.purpose === 'rollback') return shadow.definition; // it becomes previous again

    const shard = this.shardOf(board);
    const entry = await this.redis.hget(this.keys.previous(shard), board);
    const [generation = ''] = entry?.split(' ') ?? [];
    const text = await this.redis.hget(this.keys.definitions(shard), generation);
    return text === null ? undefined : parseDefinitionText(text);
  }

  /**
   * Makes the previous generation the shadow.
   * @throws LeaseLostError, NoPreviousGenerationError
   */
  async beginRollback(lease: Lease): Promise<Shadow> {
    const { board } = lease;
    const reply = await this.#move(lease, { from: 'previous', to: 'shadow' });
    const shadow = reply === 0 ? undefined : await this.shadow(board);
    if (shadow === undefined) throw new NoPreviousGenerationError(board);
    return shadow;
  }

  /**
   * Discards a shadow; the shadow of a rollback becomes previous again. Does nothing to a
   * generation in another role.
   * @throws LeaseLostError
   */
  async discard(lease: Lease, { generation }: Shadow): Promise<void> {
    await this.#move(lease, { from: 'shadow', to: 'discarded', generation });
  }

  /** Brings a shadow closer to the live applied offsets. */
  async catchUp(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
  ): Promise<CatchUpOutcome<never>> {
    const place = this.#place(lease, shadow);
    const reply = await this.redis.ranklogBuild(catchUpArguments(place, stretches));
    return { ...catchUpOutcome(reply), ending: undefined }; // the script has no ending
  }

  /**
   * Brings a shadow to the live applied offsets and, once there, makes it live. Keeps the replaced
   * generation for `graceMs`. A build has to be ranked first.
   */
  async promote(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
    options: PromoteOptions,
  ): Promise<CatchUpOutcome<Promotion | NotReady>> {
    const place = this.#place(lease, shadow);
    const live = await this.#live(shadow.board);
    const ending = promotionEnding(place, live, options);
    const reply = await this.redis.ranklogPromote(catchUpArguments(place, stretches, ending));
    const outcome = this.#outcome(shadow, reply);
    if (outcome.ending === undefined) return outcome;

    const [result = ''] = outcome.ending;
    if (NOT_READY.includes(result)) return { ...outcome, ending: result as NotReady };

    this.#believed.set(shadow.board, shadow.generation);
    const since = Number(result);
    const hasPrevious = live !== BUILDING && live !== shadow.generation;
    return { ...outcome, ending: hasPrevious ? { since, previous: live } : { since } };
  }

  /**
   * Ranks some players of a build, or finds some of its views, from `cursor` on. Returns no next
   * cursor if the ranking is done, or if the script refused the step, for example after a restart
   * or failover of Redis. After a refused step, `promote` is also refused, or answers UNRANKED.
   */
  async rank(
    { token }: Lease,
    { board, generation, definition }: Shadow,
    cursor = BEGIN_RANKING,
  ): Promise<RankingStep> {
    const { keys } = this;
    const shard = this.shardOf(board);
    const isRanked = cursor.views.length === 0 && cursor.viewsCursor === '';
    const views = cursor.views.slice(0, VIEWS_PER_CALL);
    const reply = await this.redis.ranklogRankShadow({
      lease: keys.lease(shard, board),
      shadows: keys.shadows(shard),
      shadowViews: keys.views(shard, generation),
      shadowBans: keys.bans(shard, generation),
      rankingsAndPlayers: views.flatMap((view) => keys.ofView(shard, generation, view)),
      token,
      board,
      generation,
      state: isRanked ? 'build' : RANKING,
      server: cursor.server,
      playersCursor: cursor.playersCursor,
      viewsCursor: views.length > 0 ? '' : cursor.viewsCursor,
      columnCount: definition.columns.length,
      tieSign: TIE_SIGNS[definition.ties],
    });
    if (isRanked || !Array.isArray(reply)) return { players: 0 };
    return readRanking(cursor, reply);
  }

  /**
   * Brings a shadow to the live applied offsets. Once there, compares a part of it with the live
   * generation, from `cursor` on.
   */
  async compare(
    lease: Lease,
    shadow: Shadow,
    stretches: readonly Stretch[],
    cursor = beginComparison(shadow, stretches),
  ): Promise<CatchUpOutcome<ComparisonStep>> {
    const place = this.#place(lease, shadow);
    const ending = comparisonEnding(place, await this.#live(shadow.board), cursor);
    const reply = await this.redis.ranklogCompareGenerations(
      catchUpArguments(place, stretches, ending),
    );
    const outcome = this.#outcome(shadow, reply);
    if (outcome.ending === undefined) return outcome;
    return { ...outcome, ending: readComparison(cursor, outcome.ending) };
  }

  /**
   * Joins player records to the ban register of a shadow, without a stretch: see
   * lua/commands/join-records-2.lua.
   * @throws LeaseLostError
   */
  async joinRecords(
    { token }: Lease,
    shadow: Shadow,
    { partition, entries, isLast = false }: JoinedRecords,
  ): Promise<void> {
    const { keys } = this;
    const { board, generation } = shadow;
    const shard = this.shardOf(board);
    const boards = new Map([[board, shadow]]);
    const run = runArguments(keys, { shard, partition, boards, entries, isLast });
    const reply = await this.redis.ranklogJoinRecords({
      lease: keys.lease(shard, board),
      shadows: keys.shadows(shard),
      runKeys: run.keys,
      token,
      board,
      generation,
      partition,
      run: run.arguments,
    });
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);
  }

  /** The ban register of a generation, page by page. */
  bans({ board, generation }: LiveBoard) {
    return scanBans(this.redis, this.keys.bans(this.shardOf(board), generation));
  }

  /** The player records that a generation has marked and not settled (lua/includes/settle.lua). */
  async unsettled({ board, generation }: LiveBoard): Promise<UnsettledRecord[]> {
    const shard = this.shardOf(board);
    const facts = await this.redis.hgetall(this.keys.facts(shard, generation));
    const found = Object.entries(facts).flatMap(([field, playerId]) => {
      const [, partition, offset] = /^unsettled:(\d+) (\d+)$/.exec(field) ?? [];
      if (offset === undefined) return [];
      return { playerId, partition: Number(partition), offset: Number(offset) };
    });
    const bans = this.keys.bans(shard, generation);
    const texts = await Promise.all(found.map(({ playerId }) => this.redis.hget(bans, playerId)));
    return found.map((record, index) => ({ ...record, entry: texts[index] ?? '' }));
  }

  /**
   * Keeps a shadow as a read-only snapshot.
   * @throws LeaseLostError
   */
  async keepAsSnapshot(lease: Lease, { board, generation }: Shadow): Promise<void> {
    const reply = await this.#move(lease, { from: 'shadow', to: 'snapshot', generation });
    if (reply === 0) throw new LeaseLostError(board); // another process discarded the shadow
  }

  /**
   * Removes a board. Returns the removal's time in us of the server's clock; 0 if there is no such
   * board. With `unregisters`, only undoes the registration of a board, and does nothing to a live
   * board.
   * @throws LeaseLostError
   */
  async remove({ board, token }: Lease, { unregisters = false } = {}): Promise<number> {
    const shard = this.shardOf(board);
    const { keys } = this;
    const reply = await this.redis.ranklogRemove({
      ...keys.ofRoles(shard, board),
      live: keys.live(shard),
      promotions: keys.promotions(shard),
      removed: keys.removed(shard),
      leaders: keys.leaders(shard, board),
      token,
      board,
      unregisters: Number(unregisters),
    });
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);
    return Number(reply);
  }

  async #move({ board, token }: Lease, move: Move): Promise<number> {
    const shard = this.shardOf(board);
    const reply = await moveGeneration(this.redis, this.keys, shard, { ...move, board, token });
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);
    return reply;
  }

  #place(lease: Lease, shadow: Shadow): ShadowPlace {
    return { keys: this.keys, shard: this.shardOf(shadow.board), lease, shadow };
  }

  /** The live generation of a board as last read; BUILDING if it has none. */
  async #live(board: string): Promise<string> {
    const known = this.#believed.get(board);
    if (known !== undefined) return known;

    const live = (await this.redis.hget(this.keys.live(this.shardOf(board)), board)) ?? BUILDING;
    this.#believed.set(board, live);
    return live;
  }

  #outcome({ board }: Shadow, reply: CatchUpReply): CatchUpOutcome<string[]> {
    const outcome = catchUpOutcome(reply);
    if (outcome.status === 'generationChanged') this.#believed.delete(board);
    return outcome;
  }
}

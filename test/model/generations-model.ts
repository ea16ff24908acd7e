import type { BoardDefinition } from '#board';
import type { ShadowPurpose, Starts } from '#board-store';
import { Oracle } from './oracle.js';

/** One build of a board, and an oracle that got the same events. */
export interface GenerationModel {
  readonly generation: string;
  readonly board: string;
  readonly definition: BoardDefinition;
  readonly starts?: Starts;
  /** Whether it began as a shadow; otherwise it was live from the start. */
  readonly isBegun: boolean;
  readonly oracle: Oracle;
  /**
   * The last applied offset of each partition; unused for a live generation, which has the offsets
   * of the shard.
   */
  readonly appliedOffsets: Map<number, number>;
}

interface PreviousModel {
  readonly generation: string;
  /** Whether its grace time is not over yet. */
  readonly isKept: boolean;
}
interface ShadowModel extends Partial<PreviousModel> {
  readonly generation: string;
  readonly purpose: ShadowPurpose;
  readonly ranked: Ranked;
}

/** How many players the rankings of a generation have. */
export type Ranked = 'none' | 'some' | 'all';

/** What `live` holds for a board that has no live generation yet. */
export const NO_GENERATION = '-';

/**
 * The expected boards, generations and lease holders of a store. Plain data, apart from the
 * oracles.
 */
export class GenerationsModel {
  readonly all = new Map<string, GenerationModel>();
  /** By board, like all maps from here to `leases`. */
  readonly live = new Map<string, string>();
  readonly shadows = new Map<string, ShadowModel>();
  readonly previous = new Map<string, PreviousModel>();
  /** When the pointer of the board last moved, in µs since 1970. */
  readonly promotions = new Map<string, number>();
  /** The tokens of the leases. */
  readonly leases = new Map<string, string>();
  readonly removed = new Set<string>();
  /** Generations that have become live by a promotion. */
  readonly promoted = new Set<string>();

  /** Discarded generations that are not swept yet. */
  discarded: readonly GenerationModel[] = [];

  copy(): GenerationsModel {
    const { all, discarded, ...plain } = this;
    const copy = Object.assign(new GenerationsModel(), structuredClone(plain), { discarded });
    for (const [id, { oracle, appliedOffsets, ...generation }] of all)
      copy.all.set(id, {
        ...generation,
        oracle: oracle.copy(),
        appliedOffsets: new Map(appliedOffsets),
      });
    return copy;
  }

  /** The live generation; undefined while there is none. */
  liveGeneration(board: string): GenerationModel | undefined {
    return this.all.get(this.live.get(board) ?? NO_GENERATION);
  }

  /** The oracle of the live generation. */
  oracle(board: string): Oracle {
    const found = this.liveGeneration(board);
    if (found === undefined) throw new Error(`the model has no live board ${board}`);
    return found.oracle;
  }

  generation(id: string): GenerationModel {
    const found = this.all.get(id);
    if (found === undefined) throw new Error(`the model has no generation ${id}`);
    return found;
  }

  add(generation: Omit<GenerationModel, 'oracle' | 'appliedOffsets'>): void {
    const { generation: id, definition, starts } = generation;
    const appliedOffsets = new Map(
      [...(starts ?? [])].map(([partition, from]) => [partition, from - 1]),
    );
    this.all.set(id, { ...generation, oracle: new Oracle([definition]), appliedOffsets });
  }

  /**
   * A shadow takes over player records of the live generation: see takeOverRecords. Those that are
   * not settled there come later.
   */
  takeOver(board: string, shadow: GenerationModel): void {
    const live = this.liveGeneration(board);
    if (live === undefined) return;
    const { register, unsettled } = live.oracle.memory(board);
    const { definition, starts, oracle } = shadow;
    for (const record of register.values()) {
      const { partition, offset } = record;
      const isVoid = definition.voids?.some(
        (place) => place.partition === partition && place.offset === offset,
      );
      const isBelow = offset < (starts?.get(partition) ?? 0);
      if (isVoid === true || unsettled.has(`${partition} ${offset}`)) continue;
      if (isBelow || record.kind === 'erased')
        oracle.join(board, record, { ranked: this.ranked(shadow) !== 'none' });
    }
  }

  ranked({ board, generation }: GenerationModel): Ranked {
    const shadow = this.shadows.get(board);
    return shadow?.generation === generation ? shadow.ranked : 'all';
  }

  /**
   * Whether every interleaving of the partitions gives the same board. `keyed`: the events of a
   * player are in one partition.
   */
  isPromised(generation: GenerationModel, keyed: boolean): boolean {
    const { orderMattered, overflowed } = generation.oracle.memory(generation.board);
    return !orderMattered && (keyed || !overflowed);
  }

  /**
   * Discards the shadow of a board; the shadow of a rollback becomes the previous generation again.
   */
  discardShadow(board: string): void {
    const shadow = this.shadows.get(board);
    if (shadow === undefined) return;
    const { generation, purpose, isKept = true } = shadow;
    this.shadows.delete(board);
    if (purpose === 'rollback') this.previous.set(board, { generation, isKept });
    else this.discard(generation);
  }

  /**
   * Discards the shadow of a verify, and makes the shadow of a rollback previous again, if its
   * board has no lease. Discards previous generations that are not kept.
   */
  clean(): void {
    for (const [board, { purpose }] of [...this.shadows])
      if ((purpose === 'verify' || purpose === 'rollback') && !this.leases.has(board))
        this.discardShadow(board);
    for (const [board, { isKept }] of [...this.previous]) if (!isKept) this.dropPrevious(board);
  }

  /** Discards the previous generation of a board. */
  dropPrevious(board: string): void {
    const previous = this.previous.get(board);
    if (previous === undefined) return;
    this.previous.delete(board);
    this.discard(previous.generation);
  }

  discard(id: string): void {
    const generation = this.all.get(id);
    this.all.delete(id);
    if (generation !== undefined) this.discarded = [...this.discarded, generation];
  }

  /**
   * Forgets the discarded generations, which a sweep has deleted; returns the views of those whose
   * board is live.
   */
  takeDiscarded(): [board: string, views: Iterable<string>][] {
    const swept = this.discarded.filter(({ board }) => this.liveGeneration(board) !== undefined);
    this.discarded = [];
    return swept.map(({ board, oracle }) => [board, oracle.memory(board).views.keys()]);
  }

  /** Discards all generations of a board. */
  drop(board: string): void {
    this.discardShadow(board);
    this.dropPrevious(board);
    this.discard(this.live.get(board) ?? NO_GENERATION);
    this.live.delete(board);
  }
}

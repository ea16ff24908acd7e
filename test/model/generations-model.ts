import type { BoardDefinition, ResolvedEvent } from '#board';
import type { ShadowPurpose, Starts } from '#board-store';
import { Oracle, type OracleLeader } from './oracle.js';
import type { BoardMemory, OracleOutcome } from './oracle-board.js';
import type { LiveOracle } from './store-model.js';

/** One build of a board, beside the oracle that was fed what it was. */
export interface GenerationModel {
  readonly generation: string;
  readonly board: string;
  readonly definition: BoardDefinition;
  readonly starts?: Starts;
  readonly ends?: Starts;
  /** Whether it was begun beside a live one; else it was live from the start. */
  readonly isBegun: boolean;
  readonly oracle: Oracle;
  /** The last offset of each partition; of a live generation, those of the shard are. */
  readonly appliedOffsets: Map<number, number>;
}

export interface ShadowModel {
  readonly generation: string;
  readonly purpose: ShadowPurpose;
  /** `rollback`: whether its grace time lasts. */
  readonly isKept?: boolean | undefined;
}
export interface PreviousModel {
  readonly generation: string;
  readonly isKept: boolean;
}

/** What `live` holds for a board that has no generation yet. */
export const NO_GENERATION = '-';

/** What a store should hold of boards, their generations and who works on them. Plain data beside the oracles. */
export class GenerationsModel implements LiveOracle {
  readonly generations = new Map<string, GenerationModel>();
  /** By board, these all. */
  readonly live = new Map<string, string>();
  readonly shadows = new Map<string, ShadowModel>();
  readonly previous = new Map<string, PreviousModel>();
  readonly promotions = new Map<string, number>();
  /** The token of the lease. */
  readonly leases = new Map<string, string>();
  readonly removed = new Set<string>();
  /** Generations, these both: those that are kept to be read, and those that have become live by a promotion. */
  readonly snapshots = new Set<string>();
  readonly promoted = new Set<string>();

  /** Discarded generations that are not swept yet. */
  discarded: readonly GenerationModel[] = [];

  copy(): this {
    const copy = new GenerationsModel();
    copy.discarded = this.discarded;
    for (const [id, generation] of this.generations)
      copy.generations.set(id, {
        ...generation,
        oracle: generation.oracle.copy(),
        appliedOffsets: new Map(generation.appliedOffsets),
      });
    for (const name of ['live', 'shadows', 'previous', 'promotions', 'leases'] as const)
      for (const [board, value] of this[name])
        (copy[name] as Map<string, unknown>).set(board, value);
    for (const name of ['removed', 'snapshots', 'promoted'] as const)
      for (const value of this[name]) copy[name].add(value);
    return copy as this;
  }

  apply(board: string, event: ResolvedEvent, partition: number): OracleOutcome {
    return this.#live(board).apply(board, event, partition);
  }

  leaders(board: string, view: string): OracleLeader[] {
    return this.#live(board).leaders(board, view);
  }

  leadersText(board: string, view: string): string {
    return this.#live(board).leadersText(board, view);
  }

  sweep(board: string): string[] {
    return this.#live(board).sweep(board);
  }

  memory(board: string): BoardMemory {
    return this.#live(board).memory(board);
  }

  /** The live generation; undefined while there is none. */
  liveGeneration(board: string): GenerationModel | undefined {
    return this.generations.get(this.live.get(board) ?? NO_GENERATION);
  }

  generation(id: string): GenerationModel {
    const found = this.generations.get(id);
    if (found === undefined) throw new Error(`the model has no generation ${id}`);
    return found;
  }

  add(generation: Omit<GenerationModel, 'oracle' | 'appliedOffsets'>): void {
    const { generation: id, definition, starts } = generation;
    const appliedOffsets = new Map(
      [...(starts ?? [])].map(([partition, from]) => [partition, from - 1]),
    );
    this.generations.set(id, { ...generation, oracle: new Oracle([definition]), appliedOffsets });
  }

  /** The shadow of a verify has no rankings. */
  isRanked({ board, generation }: GenerationModel): boolean {
    const shadow = this.shadows.get(board);
    return shadow?.generation !== generation || shadow.purpose !== 'verify';
  }

  /** Whether other interleavings of the partitions give the same board. */
  isPromised(generation: GenerationModel, keyed: boolean): boolean {
    const { orderMattered, overflowed } = generation.oracle.memory(generation.board);
    return !orderMattered && (keyed || !overflowed);
  }

  /** The shadow of a board goes: back to where it was, or for good. */
  discardShadow(board: string): void {
    const shadow = this.shadows.get(board);
    if (shadow === undefined) return;
    const { generation, purpose, isKept = true } = shadow;
    this.shadows.delete(board);
    if (purpose === 'rollback') this.previous.set(board, { generation, isKept });
    else this.discard(generation);
  }

  /** What nobody needs any more goes: shadows of a verify or a rollback without a lease, and previous generations that are not kept. */
  clean(): void {
    for (const [board, { purpose }] of [...this.shadows])
      if ((purpose === 'verify' || purpose === 'rollback') && !this.leases.has(board))
        this.discardShadow(board);
    for (const [board, { isKept }] of [...this.previous]) if (!isKept) this.dropPrevious(board);
  }

  /** The previous generation of a board goes for good. */
  dropPrevious(board: string): void {
    const previous = this.previous.get(board);
    if (previous === undefined) return;
    this.previous.delete(board);
    this.discard(previous.generation);
  }

  discard(id: string): void {
    const generation = this.generations.get(id);
    this.generations.delete(id);
    if (generation !== undefined) this.discarded = [...this.discarded, generation];
  }

  /** What is swept now: views, of boards that are live. */
  takeDiscarded(): [board: string, views: Iterable<string>][] {
    const swept = this.discarded.filter(({ board }) => this.liveGeneration(board) !== undefined);
    this.discarded = [];
    return swept.map(({ board, oracle }) => [board, oracle.memory(board).views.keys()]);
  }

  /** All of a board goes, but what is kept as snapshots. */
  drop(board: string): void {
    this.discardShadow(board);
    this.dropPrevious(board);
    this.discard(this.live.get(board) ?? NO_GENERATION);
    this.live.delete(board);
  }

  #live(board: string): Oracle {
    const found = this.liveGeneration(board);
    if (found === undefined) throw new Error(`the model has no live board ${board}`);
    return found.oracle;
  }
}

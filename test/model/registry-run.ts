import { expect } from '@jest/globals';
import type { BoardDefinition } from '#board';
import type { Boards } from '#board-store';
import { NO_GENERATION } from './generations-model.js';
import type { Sandbox } from './sandbox.js';
import { compareVersions } from './store-comparison.js';

/** The registry of the boards: registers them, and reads which generations are live. */
export class RegistryRun {
  /** Every generation that was ever live. */
  readonly #generations = new Set<string>();
  /**
   * Boards that can not be computed from their results: another generation went live, they were not
   * live for a while, or they depend on how the partitions interleave.
   */
  readonly changed = new Set<string>();

  constructor(private readonly sandbox: Sandbox) {}

  /** Registers the definitions of Kafka, and the boards that are new in the file. */
  async register(): Promise<void> {
    const { kafka, live, model } = this.sandbox;
    const wanted = kafka.wanted();
    const boards = await live.store.registerBoards(wanted, kafka.current);
    const promotions = await live.store.promotions();
    for (const definition of wanted)
      if (!model.live.has(definition.board)) this.#add(definition, boards, promotions);
    for (const { board, definition } of kafka.current.values())
      if (definition === null && !model.live.has(board)) model.removed.add(board);
    expect(promotions).toEqual(model.promotions);
    await this.refresh();
    kafka.recordMissing(model);
  }

  #add(
    definition: BoardDefinition,
    { live }: Boards,
    promotions: ReadonlyMap<string, number>,
  ): void {
    const { board } = definition;
    const { kafka, log, model, shardOf, live: run } = this.sandbox;
    model.removed.delete(board);
    const isLate = Array.from({ length: log.partitions }, (_, partition) =>
      run.model.partition(shardOf(board), partition),
    ).some(({ appliedOffset }) => appliedOffset >= 0);
    const generation = live.get(board)?.generation ?? NO_GENERATION;
    expect(generation === NO_GENERATION).toBe(isLate);
    model.live.set(board, generation);
    if (isLate) {
      this.changed.add(board);
      return;
    }
    const { starts, since = 0 } = kafka.current.get(board) ?? {};
    expect(this.#generations).not.toContain(generation);
    model.add({ generation, board, definition, ...(starts && { starts }), isBegun: false });
    const promotion = promotions.get(board) ?? 0;
    expect(promotion).toBeGreaterThan(Math.max(since, model.promotions.get(board) ?? 0));
    model.promotions.set(board, promotion);
  }

  /** Reads the boards again for live ingest, and compares them with the model. */
  async refresh(): Promise<void> {
    const { live: run, model, shardOf } = this.sandbox;
    const boards = await run.store.boards();
    const { live, building, removed } = boards;
    const pointers = [...live.values()].map(({ board, generation }) => [board, generation]);
    const none = [...building].map((board) => [board, NO_GENERATION]);
    expect([...pointers, ...none].sort()).toEqual([...model.live].sort());
    expect([...removed].sort()).toEqual([...model.removed].sort());
    compareVersions(run.boards, boards, shardOf);
    for (const { generation, definition, starts } of live.values()) {
      const known = model.generation(generation);
      expect([definition, starts]).toEqual([known.definition, known.starts]);
      this.#generations.add(generation);
    }
    run.boards = boards;
  }

  /**
   * Call it after the pointer of a board (the field that names the live generation) has moved.
   * Checks that a call with the earlier version of the pointers is refused; writes the definition
   * record if `recorded`.
   */
  async moved(board: string, recorded: boolean): Promise<void> {
    const { kafka, live, model, shardOf } = this.sandbox;
    const outcome = await live.store.apply(live.idleCall(shardOf(board), 0));
    expect(outcome).toEqual({ status: 'generationChanged' });
    await this.refresh();
    if (recorded) kafka.record(model, board);
  }
}

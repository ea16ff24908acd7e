import { expect } from '@jest/globals';
import { definitionText } from '#board';
import {
  GenerationCatalog,
  type ComparisonCursor,
  type Difference,
  type Shadow,
} from '#board-store';
import { takeOverAndCompare } from '../../src/reconciliation/verify/verify.js';
import { Builder } from './builder.js';
import type { GenerationModel, GenerationsModel } from './generations-model.js';
import { Oracle } from './oracle.js';
import type { RegistryRun } from './registry-run.js';
import type { Sandbox } from './sandbox.js';
import { oracleRecord } from './scenario-log.js';
import type { ApplyStep, BoardStep, BoardStepOf } from './steps.js';

type Between = BoardStepOf<'verify'>['between'];

/** Runs the steps of builders, and compares their outcomes with the model. */
export class BoardRun {
  readonly #catalog: GenerationCatalog;
  readonly #builders = new Map<string, Builder>();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly registry: RegistryRun,
    /** Applies records or sweeps expired views, between the calls of a verify. */
    private readonly meanwhile: (step: ApplyStep | { kind: 'sweep' }) => Promise<void>,
  ) {
    const { redis, keys, shards } = sandbox;
    this.#catalog = new GenerationCatalog(redis, keys, { shards });
  }

  async step(step: BoardStep): Promise<void> {
    const board = this.sandbox.boards[step.board]!;
    if (step.kind === 'register') return this.#readd(board, step.variant);
    if (!this.#model.live.has(board)) return; // the board was removed
    if (step.kind === 'kill') this.#builders.delete(board);
    else {
      const builder = await this.#builder(board);
      if (builder !== undefined) await this.#work(builder, step);
    }
  }

  /**
   * Builds and promotes the board if it is not live yet. Then checks that a verify finds no
   * difference, and that the board equals one build of the whole log. Checks neither if the content
   * depends on how the partitions interleave.
   */
  async finish(board: string): Promise<void> {
    const builder = (await this.#builder(board)) ?? (await this.#builder(board))!;
    if (this.#model.liveGeneration(board) === undefined) {
      const definition = this.sandbox.variants(board)[0]!;
      await builder.begin({ definition, purpose: 'build' });
      await this.#promote(builder, { sizes: undefined, kept: true, recorded: true });
    }
    await this.#verify(builder, []);
    const live = this.#model.liveGeneration(board)!;
    const { log } = this.sandbox;
    const oracle = new Oracle([live.definition]);
    for (let partition = 0; partition < log.partitions; partition++)
      for (const entry of log.entries(live, partition))
        if (entry.kind === 'event') oracle.apply(board, entry.event, partition);
        else oracle.join(board, oracleRecord(entry));
    if (!this.#arePromised(live, { ...live, oracle })) return;
    const bytes = (one: Oracle) => one.views(board).map((view) => [view, one.bytes(board, view)]);
    expect(bytes(live.oracle)).toEqual(bytes(oracle));
  }

  /** Frees the generations that are not needed any more. */
  async clean(): Promise<void> {
    while ((await this.#catalog.sweep()) > 0);
    this.#model.clean();
    for (const swept of this.#model.takeDiscarded())
      this.sandbox.live.model.deleteReportsOf(...swept);
    const ids = (await this.#catalog.generations()).map(({ generation }) => generation);
    expect(ids.sort()).toEqual([...this.#model.all.keys()].sort());
  }

  get #model(): GenerationsModel {
    return this.sandbox.model;
  }

  /**
   * Returns the board's builder, with the lease. Forgets a builder that turns out to be fenced, and
   * returns undefined.
   */
  async #builder(board: string): Promise<Builder | undefined> {
    const builder = this.#builders.get(board) ?? new Builder(this.sandbox, board);
    this.#builders.set(board, builder);
    if (await builder.prepare()) return builder;
    this.#builders.delete(board);
    return undefined;
  }

  async #work(builder: Builder, step: BoardStep): Promise<void> {
    switch (step.kind) {
      case 'begin':
        return this.#begin(builder, step);
      case 'feed':
        await this.#beginInstead(builder, step);
        return builder.feed(step);
      case 'rank':
        return builder.rank(step.steps);
      case 'promote':
        await this.#beginInstead(builder, step);
        return this.#promote(builder, step);
      case 'verify':
        return this.#verify(builder, step.between);
      case 'sweepShadow':
        return this.#sweepShadow(builder);
      case 'steal':
        return this.#steal(builder);
      case 'remove':
        return this.#remove(builder, step.recorded);
      case 'beginRollback':
      case 'discard':
        return builder[step.kind]();
    }
  }

  async #begin(
    builder: Builder,
    { variant, starts: shares }: Omit<BoardStepOf<'begin'>, 'kind' | 'board'>,
  ): Promise<void> {
    const { log } = this.sandbox;
    const variants = this.sandbox.variants(builder.board);
    const starts = shares?.map((share, partition): [number, number] => {
      return [partition, Math.floor(Math.min(1, share) * log.end(partition))];
    });
    await builder.begin({
      definition: variants[variant % variants.length]!,
      purpose: 'build',
      ...(starts && { starts: new Map(starts) }),
    });
  }

  async #beginInstead(
    builder: Builder,
    { kind, instead }: BoardStepOf<'feed' | 'promote'>,
  ): Promise<void> {
    const { shadow } = builder;
    if (shadow !== undefined && (kind === 'feed' || shadow.purpose !== 'verify')) return;
    if (instead === 'previous') await builder.beginRollback();
    else await this.#begin(builder, { variant: instead, starts: undefined });
  }

  async #promote(
    builder: Builder,
    { recorded, ...step }: Omit<BoardStepOf<'promote'>, 'kind' | 'board' | 'instead'>,
  ): Promise<void> {
    const { board } = builder;
    const before = this.#model.liveGeneration(board);
    const isRestored = builder.shadow?.purpose === 'rollback';
    if (!(await builder.promote(step))) return;
    const now = this.#model.liveGeneration(board)!;
    this.registry.changed.add(board);
    if (isRestored || before === undefined || !this.#isSameBoard(before, now))
      this.sandbox.endChains(board);
    await this.registry.moved(board, recorded);
    if (!recorded) this.#builders.delete(board);
  }

  /** Whether two generations must have the same bytes at the same applied offsets. */
  #isSameBoard(one: GenerationModel, other: GenerationModel): boolean {
    return (
      definitionText(one.definition) === definitionText(other.definition) &&
      JSON.stringify([...(one.starts ?? [])]) === JSON.stringify([...(other.starts ?? [])]) &&
      this.#arePromised(one, other)
    );
  }

  /**
   * Whether each of these generations has the same bytes in every interleaving of the partitions.
   */
  #arePromised(...generations: GenerationModel[]): boolean {
    const { keyed } = this.sandbox.scenario;
    return generations.every((generation) => this.#model.isPromised(generation, keyed));
  }

  async #verify(builder: Builder, between: Between): Promise<void> {
    const live = this.#model.liveGeneration(builder.board);
    if (live === undefined) return;
    const { definition, starts } = live;
    await builder.begin({ definition, purpose: 'verify', ...(starts && { starts }) });
    const shadow = builder.shadow!;
    const rest = [...between];
    const { differences } = await takeOverAndCompare(
      () => builder.takeOver(shadow),
      async () => {
        const found = await this.#differences(builder, shadow, rest.splice(0));
        return { differences: found, differenceCount: found.length };
      },
    );
    const expected = this.#model.generation(shadow.generation);
    if (this.#arePromised(live, expected)) expect(differences).toEqual([]);
    await builder.discard();
  }

  async #differences(builder: Builder, shadow: Shadow, between: Between): Promise<Difference[]> {
    const { board } = builder;
    const refused = (generation: string) =>
      this.#model.generation(generation).oracle.memory(board).refused;
    const found: Difference[] = [];
    const rest = [...between];
    let cursor: ComparisonCursor | undefined;
    do {
      await this.#between(builder, rest.shift());
      const step = await builder.compare(shadow, cursor);
      expect(step.tooManyViews).toEqual({
        expected: refused(shadow.generation),
        found: refused(this.#model.live.get(board)!),
      });
      found.push(...step.differences);
      cursor = step.next;
    } while (cursor !== undefined);
    await this.#between(builder, rest.shift());
    return found;
  }

  async #between(builder: Builder, step: Between[number] | undefined): Promise<void> {
    if (step?.kind === 'sweepShadow') await this.#sweepShadow(builder);
    else if (step !== undefined) await this.meanwhile(step as ApplyStep | { kind: 'sweep' });
  }

  async #sweepShadow({ board, shadow }: Builder): Promise<void> {
    if (shadow === undefined) return;
    const { generation } = shadow;
    const isAtWork = this.#model.shadows.get(board)?.generation === generation;
    const removed = await this.sandbox.live.sweepViews(shadow);
    if (isAtWork)
      expect(removed).toBe(this.#model.generation(generation).oracle.sweep(board).length);
  }

  /**
   * Gives the lease to another process, and checks that later calls of the process that had it have
   * no effect.
   */
  async #steal(zombie: Builder): Promise<void> {
    const other = new Builder(this.sandbox, zombie.board);
    this.#builders.set(zombie.board, other);
    await other.prepare();
    await zombie.expectFenced();
  }

  async #remove(builder: Builder, recorded: boolean): Promise<void> {
    const { board } = builder;
    await builder.remove();
    this.registry.changed.add(board);
    this.sandbox.endChains(board);
    await this.registry.moved(board, recorded);
    this.#builders.delete(board);
  }

  /** Puts a removed board into the file again, and registers it. */
  async #readd(board: string, variant: number): Promise<void> {
    if (!this.#model.removed.has(board)) return;
    const variants = this.sandbox.variants(board);
    this.sandbox.kafka.add(variants[variant % variants.length]!);
    await this.registry.register();
  }
}

import type { BoardDefinition } from '#board';
import { HOLDER, UnknownBoardError, type Lease, type Shadow } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { logRanges, toError } from '#kafka-batch';
import type { ProcessOptions } from '../infra/config.module.js';
import type { Stores } from '../infra/connections.module.js';
import type { DefinitionsTopic } from '../infra/definitions-topic.js';
import type { KafkaConnection } from '../infra/kafka.js';
import { Build, type BuildOptions, type BuildReport } from './runs/build.js';
import { HistoryCutError } from './runs/errors.js';
import {
  GenerationRun,
  type ReconcilerParts,
  type RunOptions,
  type RunWork,
} from './runs/generation-run.js';
import { cutPartitions, nextOf, type OpenShadow } from './runs/log-history.js';
import { promote, recordDefinition, type PromotionReport } from './runs/promote.js';
import { planShadow, warnOfDiscardedShadow } from './runs/shadow-plan.js';
import { Verify, type VerifyOptions, type VerifyReport } from './verify/verify.js';

type SnapshotOptions = Omit<BuildOptions, 'from' | 'isFirst'>;

/** A kept snapshot. `asOf`: the last record time that it includes, in ms. */
type SnapshotReport = Pick<Shadow, 'board' | 'generation' | 'starts'> & { readonly asOf: number };

/** The generation in the definition record of a removed board that was never live. */
const NEVER_LIVE = '-';

/**
 * Runs reconciliations and removes boards; live ingest never waits for it. A lease allows one of these per board at a time.
 * All methods @throw LeaseHeldError, LeaseLostError, CancelledError, HistoryCutError, and the errors of Kafka and Redis after some
 * retries; all but `build` also UnknownBoardError and BoardBuildingError.
 */
export class Reconciler {
  constructor(private readonly parts: ReconcilerParts) {}

  /** Builds boards from the log in one pass, and promotes each as soon as it is caught up. Continues a build that was killed. */
  build(definitions: readonly BoardDefinition[], options: BuildOptions): Promise<BuildReport[]> {
    return new Build(this.parts, definitions, options).run();
  }

  /** Compares live boards with the log, player by player. Cost: one pass over the log, and three calls for each 500 players. */
  verify(boards: readonly string[], options: VerifyOptions): Promise<VerifyReport[]> {
    return new Verify(this.parts, boards, options).run();
  }

  /** Promotes the previous generation of a board again; the live one becomes previous. @throws NoPreviousGenerationError */
  rollback(board: string, options: RunOptions): Promise<PromotionReport> {
    return this.#runOne(board, options, {
      kind: 'rollback',
      plan: () => Promise.resolve(new Map([[board, (lease) => this.#beginRollback(lease)]])),
      finish: async (at) => {
        const promotion = await promote(this.parts, at);
        await at.end(`back to generation ${promotion.generation}`);
        return promotion;
      },
    });
  }

  /** Builds a read-only generation from the records up to `until` (ms); the live generation stays. */
  snapshot(board: string, until: number, options: SnapshotOptions): Promise<SnapshotReport> {
    const { store, generations } = this.parts;
    return this.#runOne(board, options, {
      kind: 'snapshot',
      plan: async ({ signal }) => {
        const { definition, starts } = await store.liveBoard(board);
        const { allowPartialHistory } = options;
        const request = { definition, starts, until, allowPartialHistory };
        const log = { ...this.parts, signal };
        return new Map([[board, await planShadow(log, { ...request, purpose: 'snapshot' })]]);
      },
      finish: async ({ lease, shadow, catchUp, end }) => {
        const { generation, starts } = shadow;
        await catchUp.reachEnds();
        await generations.keepAsSnapshot(lease, shadow);
        await end(`kept as generation ${generation}`);
        return { board, generation, asOf: until, ...(starts && { starts }) };
      },
    });
  }

  /** Removes a board with all its generations but snapshots; its events are dead letters from then on. @throws UnknownBoardError */
  async remove(board: string, { signal }: Pick<RunOptions, 'signal'>): Promise<void> {
    await recordDefinition(this.parts, await this.#remove(board), signal);
  }

  async #runOne<T>(
    board: string,
    options: RunOptions,
    work: Omit<RunWork<T>, 'boards'>,
  ): Promise<T> {
    await this.parts.store.liveBoard(board); // throws for an unknown board, before a status is reported
    const run = new GenerationRun(this.parts, { ...work, boards: () => [board] }, options);
    const [result] = await run.run();
    return result as T;
  }

  async #beginRollback(lease: Lease): Promise<OpenShadow> {
    const { generations, kafka, topic } = this.parts;
    await warnOfDiscardedShadow(this.parts, lease.board, 'rollback');
    const shadow = await generations.beginRollback(lease);
    const opened = { shadow, appliedOffsets: await generations.shadowAppliedOffsets(shadow) };
    const cut = cutPartitions(await logRanges(kafka, topic), nextOf(opened));
    if (cut.length === 0) return opened;
    await generations.discard(lease, shadow);
    throw new HistoryCutError([lease.board], cut, false);
  }

  async #remove(board: string): Promise<DefinitionRecord> {
    const { store, leases, generations } = this.parts;
    const lease = await leases.acquire(board, HOLDER);
    try {
      const { live } = await store.boards();
      const generation = live.get(board)?.generation ?? NEVER_LIVE;
      const since = await generations.remove(lease);
      if (since === 0) throw new UnknownBoardError(board, [...live.keys()].sort());
      await this.#tidy('delete the status', board, leases.deleteStatus(board));
      return { board, generation, since, definition: null };
    } finally {
      await this.#tidy('release the lease', board, leases.release(lease)); // it expires
    }
  }

  /** A failure must neither hide another one, nor keep a removal from being recorded. */
  async #tidy(what: string, board: string, work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      this.parts.logger.warn(`could not ${what} of board "${board}": ${toError(error).message}`);
    });
  }
}

export function createReconciler(
  stores: Stores,
  { kafka, admin, topics }: KafkaConnection,
  definitions: DefinitionsTopic,
  { settings, logger }: ProcessOptions,
): Reconciler {
  return new Reconciler({
    ...{ ...stores, kafka, admin, definitions, logger, topic: topics.scoreEvents },
    graceMs: settings.rollbackGrace,
    eventsPerSecond: settings.backgroundRate || undefined,
  });
}

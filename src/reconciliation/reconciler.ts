import type { BoardDefinition } from '#board';
import { HOLDER, UnknownBoardError } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { toError } from '#errors';
import type { ProcessOptions } from '../infra/config.module.js';
import type { DefinitionsTopic } from '../infra/definitions-topic.js';
import type { KafkaConnection } from '../infra/kafka.js';
import type { Stores } from '../infra/stores.js';
import { ReconciliationRun, type SnapshotReport, type Task } from './reconciliation-run.js';
import type { BuildOptions, BuildReport, VoidOptions } from './runs/build.js';
import { recordDefinition, type PromotionReport } from './runs/promote.js';
import type { ReconcilerParts, RunOptions } from './runs/reconciler-parts.js';
import type { VerifyOptions, VerifyReport } from './verify/verify.js';

interface RollbackOptions extends RunOptions {
  /** Allows a rollback to a generation that counts records that the live one voids. */
  readonly allowUnvoid?: boolean | undefined;
}

type SnapshotOptions = Omit<BuildOptions, 'from' | 'skipsLive'>;

/** The generation in the definition record of a removed board that was never live. */
const NEVER_LIVE = '-';

/**
 * Runs reconciliations and removes boards; live ingest never waits for it. A lease allows one
 * reconciliation or removal per board at a time.
 * All methods throw LeaseHeldError, LeaseLostError, CancelledError, HistoryCutError, and the errors
 * of Kafka and Redis after some retries; all but `build` also UnknownBoardError and
 * BoardBuildingError.
 */
export class Reconciler {
  constructor(private readonly parts: ReconcilerParts) {}

  /**
   * Builds boards from the log in one pass, and promotes each as soon as it is caught up. Continues
   * a build that was killed.
   */
  async build(
    definitions: readonly BoardDefinition[],
    options: BuildOptions,
  ): Promise<BuildReport[]> {
    const { from, allowPartialHistory, skipsLive } = options;
    const task = { kind: 'build', definitions, from, allowPartialHistory, skipsLive } as const;
    const boards = definitions.map(({ board }) => board);
    const run = new ReconciliationRun(this.parts, task, boards, options);
    return (await run.run()) as BuildReport[];
  }

  /**
   * Voids or unvoids score events of a live board: builds its live definition with other voids, and
   * promotes the new generation.
   * @throws TooManyVoidsError
   */
  async changeVoids(board: string, options: VoidOptions): Promise<BuildReport> {
    const { change, allowPartialHistory } = options;
    const task = { kind: 'build', definitions: [], change, allowPartialHistory } as const;
    const [report] = await this.#runOnLive([board], task, options);
    return report as BuildReport;
  }

  /**
   * Compares live boards with the log, player by player.
   * Cost: one pass over the log, and three calls for each 500 players.
   */
  async verify(boards: readonly string[], options: VerifyOptions): Promise<VerifyReport[]> {
    const { mostDifferences } = options;
    const reports = await this.#runOnLive(boards, { kind: 'verify', mostDifferences }, options);
    return reports as VerifyReport[];
  }

  /**
   * Promotes the previous generation of a board again; the live generation becomes previous.
   * @throws NoPreviousGenerationError, and UnvoidError unless `allowUnvoid`
   */
  async rollback(board: string, options: RollbackOptions): Promise<PromotionReport> {
    const { allowUnvoid } = options;
    const [report] = await this.#runOnLive([board], { kind: 'rollback', allowUnvoid }, options);
    return report as PromotionReport;
  }

  /**
   * Builds a read-only generation from the records up to `until` (ms); the live generation stays.
   */
  async snapshot(board: string, until: number, options: SnapshotOptions): Promise<SnapshotReport> {
    const { allowPartialHistory } = options;
    const task = { kind: 'snapshot', until, allowPartialHistory } as const;
    const [report] = await this.#runOnLive([board], task, options);
    return report as SnapshotReport;
  }

  /**
   * Removes a board with all its generations except snapshots. From then on, its events are dead
   * letters.
   * @throws UnknownBoardError
   */
  async remove(board: string, { signal }: Pick<RunOptions, 'signal'>): Promise<void> {
    const record = await this.#remove(board);
    await recordDefinition(this.parts, record, signal);
  }

  async #runOnLive(boards: readonly string[], task: Task, options: RunOptions) {
    // Throws for an unknown board, before a status is reported.
    for (const board of boards) await this.parts.store.liveBoard(board);
    return new ReconciliationRun(this.parts, task, boards, options).run();
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

  /** Only logs a failure, so that it hides no other failure and does not stop a removal. */
  async #tidy(what: string, board: string, work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      this.parts.logger.warn(`could not ${what} of board "${board}": ${toError(error).message}`);
    });
  }
}

export function createReconciler(
  { store, leases, generations }: Stores,
  { kafka, admin, topics }: KafkaConnection,
  definitions: DefinitionsTopic,
  { settings, logger }: ProcessOptions,
): Reconciler {
  return new Reconciler({
    store,
    leases,
    generations,
    kafka,
    admin,
    topic: topics.scoreEvents,
    definitions,
    graceMs: settings.rollbackGrace,
    eventsPerSecond: settings.backgroundRate || undefined,
    logger,
  });
}

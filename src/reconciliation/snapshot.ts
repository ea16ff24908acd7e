import { runLeased, type Attempt } from './leased-run.js';
import { liveBoard } from './live-board.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import type { SnapshotReport } from './reports.js';
import { ShadowPlanner } from './shadow-plan.js';
import { ShadowTasks, type ShadowAtWork } from './shadow-tasks.js';

export interface SnapshotOptions extends RunOptions {
  /** Takes what of the log there is, where its beginning is gone. */
  readonly allowPartialHistory?: boolean | undefined;
}

/** Builds a board as it was when the log had come to a time (ms), as a read-only generation beside the live one. */
export async function takeSnapshot(
  parts: ReconcilerParts,
  { board, until }: { readonly board: string; readonly until: number },
  options: SnapshotOptions,
): Promise<SnapshotReport> {
  await liveBoard(parts.store, board);
  const { leases, logger } = parts;
  const { signal, keepsShadows = false } = options;
  const leased = {
    leases,
    logger,
    kind: 'snapshot' as const,
    boards: [board],
    signal,
    keepsShadows,
  };
  return runLeased(leased, async (attempt) => {
    const open = await plan({ ...parts, signal: attempt.signal }, { board, until }, options);
    const finish = (at: ShadowAtWork) => keep(parts, at, until);
    const task = { board, open, isResumable: true, finish };
    const [report] = await new ShadowTasks(parts, attempt, options).run([task]);
    if (report === undefined) throw new Error(`the snapshot of board ${board} came to nothing`);
    return report;
  });
}

async function plan(
  parts: ReconcilerParts & Pick<Attempt, 'signal'>,
  { board, until }: { readonly board: string; readonly until: number },
  { allowPartialHistory }: SnapshotOptions,
) {
  const { definition, starts } = await liveBoard(parts.store, board);
  const planner = new ShadowPlanner(parts);
  return planner.plan({ definition, purpose: 'snapshot', starts, until, allowPartialHistory });
}

async function keep(
  { generations }: ReconcilerParts,
  { lease, shadow, catchUp, end }: ShadowAtWork,
  until: number,
): Promise<SnapshotReport> {
  const { board, generation, starts } = shadow;
  await catchUp.reachEnds();
  await generations.keep(lease, shadow);
  await end(`kept as generation ${generation}`);
  return { board, generation, asOf: until, ...(starts && { starts }) };
}

import type { Attempt } from './leased-run.js';
import type { SnapshotReport } from './reports.js';
import { ShadowPlanner } from './shadow-plan.js';
import {
  runForBoard,
  type ReconcilerParts,
  type RunOptions,
  type ShadowAtWork,
} from './shadow-tasks.js';

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
  await parts.store.liveBoard(board);
  return runForBoard(parts, { board, kind: 'snapshot', options }, async ({ signal }) => ({
    open: await plan({ ...parts, signal }, { board, until }, options),
    isResumable: true,
    finish: (at: ShadowAtWork) => keep(parts, at, until),
  }));
}

async function plan(
  parts: ReconcilerParts & Pick<Attempt, 'signal'>,
  { board, until }: { readonly board: string; readonly until: number },
  { allowPartialHistory }: SnapshotOptions,
) {
  const { definition, starts } = await parts.store.liveBoard(board);
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

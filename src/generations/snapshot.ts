import type { Starts } from '#board-store';
import {
  GenerationRun,
  type ReconcilerParts,
  type RunOptions,
  type RunWork,
} from './generation-run.js';
import { planShadow } from './shadow-plan.js';

export interface SnapshotOptions extends RunOptions {
  readonly allowPartialHistory?: boolean | undefined;
}

export interface SnapshotReport {
  readonly board: string;
  readonly generation: string;
  /** The last record time that the snapshot includes, in ms. */
  readonly asOf: number;
  readonly starts?: Starts;
}

/** Builds a read-only generation from the records up to a time (ms); the live generation stays. */
export async function takeSnapshot(
  parts: ReconcilerParts,
  { board, until }: { readonly board: string; readonly until: number },
  options: SnapshotOptions,
): Promise<SnapshotReport> {
  const { store, generations } = parts;
  await store.liveBoard(board); // throws for an unknown board, before a status is reported
  const work: RunWork<SnapshotReport> = {
    kind: 'snapshot',
    isResumable: true,
    boards: () => [board],
    plan: async ({ signal }) => {
      const { definition, starts } = await store.liveBoard(board);
      const { allowPartialHistory } = options;
      const request = { definition, starts, until, allowPartialHistory };
      const open = await planShadow({ ...parts, signal }, { ...request, purpose: 'snapshot' });
      return new Map([[board, open]]);
    },
    finish: async ({ lease, shadow, catchUp, end }) => {
      const { generation, starts } = shadow;
      await catchUp.reachEnds();
      await generations.keepAsSnapshot(lease, shadow);
      await end(`kept as generation ${generation}`);
      return { board, generation, asOf: until, ...(starts && { starts }) };
    },
  };
  return new GenerationRun(parts, work, options).runOne();
}

import type { ReconciliationStatus } from '#board-store';
import { runLeased, type Attempt } from './leased-run.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import { ShadowTasks, type Task } from './shadow-tasks.js';

interface BoardRun {
  readonly board: string;
  readonly kind: ReconciliationStatus['kind'];
  readonly options: RunOptions;
}

/** Does one task with one board while its lease is held, and answers what it came to. */
export function runForBoard<T>(
  parts: ReconcilerParts,
  { board, kind, options }: BoardRun,
  taskOf: (attempt: Attempt) => Promise<Omit<Task<T>, 'board'>>,
): Promise<T> {
  const { leases, store, logger } = parts;
  const { signal, keepsShadows = false } = options;
  const leased = { leases, store, logger, kind, boards: () => [board], signal, keepsShadows };
  return runLeased(leased, async (attempt) => {
    const task = { board, ...(await taskOf(attempt)) };
    const [report] = await new ShadowTasks(parts, attempt, options).run([task]);
    if (report === undefined) throw new Error(`the ${kind} of board ${board} came to nothing`);
    return report;
  });
}

import { EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { withReconciliation } from '../reconciliation-session.js';
import { showProgress } from '../show-progress.js';

/** `ranklog boards rollback BOARD`: the generation before becomes live again. */
export function boardsRollback(board: string, options: { json?: boolean }): Promise<number> {
  return withReconciliation(async ({ reconciler, leases }) => {
    const { generation, previous } = await interruptible((signal) => {
      const run = () =>
        showProgress((onProgress) => reconciler.rollback(board, { signal, onProgress }));
      return withLease(run, { leases, signal });
    });
    const done = { board, generation, previous: previous ?? null };
    print(
      done,
      options,
      () =>
        `${board}: live as generation ${generation} again; rolling back once more goes forward to ${previous ?? 'none'}`,
    );
    return EXIT.ok;
  });
}

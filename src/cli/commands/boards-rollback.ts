import { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { withReconciliation } from '../reconciliation-session.js';
import { runCommand } from '../run-command.js';
import { showProgress } from '../show-progress.js';

/** `ranklog boards rollback BOARD`: the generation before becomes live again. */
export function boardsRollbackCommand(): Command {
  return new Command('rollback')
    .description(
      'make the previous generation of a board live again, caught up with what came since; again: forward',
    )
    .argument('<board>')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nWorks for the time of RANKLOG_ROLLBACK_GRACE after an apply or a rebuild; "boards generations" shows until when.\n\nExample:\n  ranklog boards rollback arena',
    )
    .action((board: string, options: { json?: boolean }) =>
      runCommand(() =>
        withReconciliation(async ({ reconciler, leases }) => {
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
        }),
      ),
    );
}

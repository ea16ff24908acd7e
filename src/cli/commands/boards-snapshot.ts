import { formatTime } from '#board';
import { CommandError, EXIT } from '../exit-codes.js';
import { interruptible } from '../terminal.js';
import { print } from '../output.js';
import { withReconciliation } from '../reconciliation-session.js';
import { runOnLog } from '../run-build.js';
import type { BuildOptions } from '../usage/options.js';

type SnapshotOptions = Omit<BuildOptions, 'from'> & { readonly until: number };

export function boardsSnapshot(board: string, options: SnapshotOptions): Promise<number> {
  return withReconciliation(async (session) => {
    const { until, throttle, allowPartialHistory } = options;
    await session.reader.board(board); // throws if the board is not live
    process.stderr.write(`ranklog: building ${board} as it was at ${formatTime(until)}\n`);
    const limits = { eventsPerSecond: throttle, allowPartialHistory };
    const { generation, asOf } = await interruptible((signal) =>
      runOnLog(signal, (run) => session.reconciler.snapshot(board, until, { ...limits, ...run })),
    );
    print({ board, generation, asOf: formatTime(asOf) }, options, (made) =>
      [
        `${board} as it was at ${made.asOf}: generation ${generation}`,
        `to read it: ranklog standings ${board} --generation ${generation}`,
        `to discard it: ranklog boards discard ${generation}`,
      ].join('\n'),
    );
    return EXIT.ok;
  });
}

export function boardsDiscard(generation: string): Promise<number> {
  return withReconciliation(async ({ catalog }) => {
    const isSnapshot = await catalog.removeSnapshot(generation);
    const board = isSnapshot ? undefined : await catalog.discardShadow(generation);
    if (!isSnapshot && board === undefined)
      throw new CommandError(
        `generation ${generation} is neither a snapshot nor the shadow of a killed reconciliation, so it can't be discarded; ` +
          '"ranklog boards generations" lists all generations',
        EXIT.no,
      );
    while ((await catalog.sweep()) > 0);
    const note = isSnapshot
      ? ''
      : `; the next reconciliation of board "${board}" begins from the start`;
    process.stdout.write(`${generation}: discarded${note}\n`);
    return EXIT.ok;
  });
}

import { formatTime } from '#board';
import { CommandError, EXIT } from '../exit-codes.js';
import { interruptible } from '../terminal.js';
import { print } from '../output.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import { runOnLog } from '../run-build.js';
import type { BuildOptions, PastMoment } from '../usage/options.js';

type SnapshotOptions = Omit<BuildOptions, 'from'> & { readonly until: PastMoment };

export function boardsSnapshot(board: string, options: SnapshotOptions): Promise<number> {
  return withReconciliation(async (session) => {
    const { until, throttle, allowPartialHistory } = options;
    await session.reader.board(board); // throws if the board is not live
    if (until.isDate)
      process.stderr.write(
        `ranklog: --until is ${formatTime(until.time)}, the start of that day in UTC\n`,
      );
    const limits = { eventsPerSecond: throttle, allowPartialHistory };
    const { generation, asOf } = await interruptible((signal) =>
      runOnLog(signal, (run) =>
        session.reconciler.snapshot(board, until.time, { ...limits, ...run }),
      ),
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
    const what = await discard(catalog, generation);
    while ((await catalog.sweep()) > 0);
    process.stdout.write(`${generation}: discarded${what}\n`);
    return EXIT.ok;
  });
}

/** Discards a snapshot or a shadow. Returns a note for the user. */
async function discard(
  catalog: ReconciliationSession['catalog'],
  generation: string,
): Promise<string> {
  if (await catalog.removeSnapshot(generation)) return '';
  const board = await catalog.discardShadow(generation);
  if (board !== undefined)
    return `; it was the shadow of a killed reconciliation of board "${board}", which the next one can no longer continue`;
  throw new CommandError(
    `generation ${generation} is neither a snapshot nor the shadow of a killed reconciliation, so it can't be discarded; ` +
      '"ranklog boards generations" lists all generations',
    EXIT.no,
  );
}

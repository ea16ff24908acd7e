import { EXIT } from '../exit-codes.js';
import { print } from '../output.js';
import { withReconciliation } from '../reconciliation-session.js';
import { build, builtText, runOnLog } from '../run-build.js';
import { interruptible } from '../terminal.js';
import type { BuildOptions, JsonOption } from '../usage/options.js';

export function boardsRebuild(boards: readonly string[], options: BuildOptions): Promise<number> {
  return withReconciliation(async (session) => {
    const names = [...new Set(boards)];
    const live = await Promise.all(names.map((board) => session.reader.board(board)));
    const definitions = live.map(({ definition }) => definition);
    const built = await interruptible((signal) =>
      build(session, definitions, { ...options, signal }),
    );
    print({ built }, options, () => built.map((board) => builtText(board, options)).join('\n'));
    return EXIT.ok;
  });
}

export function boardsRollback(board: string, options: JsonOption): Promise<number> {
  return withReconciliation(async (session) => {
    const { generation, previous = null } = await interruptible((signal) =>
      runOnLog(signal, (run) => session.reconciler.rollback(board, run)),
    );
    const forward =
      previous === null ? '' : `; run it again to roll forward to generation ${previous}`;
    print(
      { board, generation, previous },
      options,
      () => `${board}: generation ${generation} is live again${forward}`,
    );
    return EXIT.ok;
  });
}

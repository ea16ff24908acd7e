import { EXIT } from '../exit-codes.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import { build, builtText } from '../run-build.js';
import type { BuildOptions } from '../usage/shared-options.js';

/** `ranklog boards rebuild BOARD...`: the live definitions, built again from the log. */
export function boardsRebuild(boards: readonly string[], options: BuildOptions): Promise<number> {
  return withReconciliation((session) => rebuild(session, boards, options));
}

async function rebuild(
  session: ReconciliationSession,
  boards: readonly string[],
  options: BuildOptions,
): Promise<number> {
  const names = [...new Set(boards)];
  const live = await Promise.all(names.map((board) => session.reader.liveBoard(board)));
  const definitions = live.map(({ definition }) => definition);
  const built = await interruptible((signal) =>
    build(session, definitions, { ...options, signal }),
  );
  print({ built }, options, (value) =>
    value.built.map((board) => builtText(board, options)).join('\n'),
  );
  return EXIT.ok;
}

import { Command, InvalidArgumentError } from 'commander';
import { formatTime, parseTime } from '#contracts';
import { CommandError, EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import { runCommand } from '../run-command.js';
import { showProgress } from '../show-progress.js';

interface Options {
  readonly until: Moment;
  readonly allowPartialHistory?: boolean;
  readonly json?: boolean;
}
interface Moment {
  /** ms */
  readonly time: number;
  /** A date without a time: its start in UTC is meant. */
  readonly isDate: boolean;
}

/** `ranklog boards snapshot BOARD --until TIME`: the board as it was, beside the live one. */
export function boardsSnapshotCommand(): Command {
  return new Command('snapshot')
    .description('build a board as it was at a time, to be read beside the live one')
    .argument('<board>')
    .requiredOption(
      '--until <time>',
      'take in what was sent up to this time, by the timestamps of the records',
      pastMoment,
    )
    .option('--allow-partial-history', 'from what is left of a log whose beginning is gone')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nIt is never moved, verified or rolled back, and stays until "boards discard".\n\nExample:\n  ranklog boards snapshot arena --until 2026-03-01T00:00:00+01:00',
    )
    .action((board: string, options: Options) =>
      runCommand(() => withReconciliation((session) => snapshot(session, board, options))),
    );
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** For commander. */
function pastMoment(text: string): Moment {
  const isDate = DATE.test(text);
  const time = parseTime(isDate ? `${text}T00:00:00Z` : text);
  if (time === undefined)
    throw new InvalidArgumentError(
      'use a time with a zone, such as 2026-03-01T00:00:00Z, or a date',
    );
  if (time > Date.now())
    throw new InvalidArgumentError('it is yet to come; a snapshot shows a time that is over');
  return { time, isDate };
}

async function snapshot(
  { reconciler, leases, reader }: ReconciliationSession,
  board: string,
  options: Options,
): Promise<number> {
  const { until, allowPartialHistory } = options;
  await reader.liveBoard(board); // says why where there is none
  if (until.isDate)
    process.stderr.write(
      `ranklog: until ${formatTime(until.time)}, the start of that day in UTC\n`,
    );
  const { generation, asOf } = await interruptible((signal) => {
    const run = () =>
      showProgress((onProgress) =>
        reconciler.snapshot(board, until.time, { signal, onProgress, allowPartialHistory }),
      );
    return withLease(run, { leases, signal });
  });
  print({ board, generation, asOf: formatTime(asOf) }, options, (made) =>
    [
      `${board} as it was at ${made.asOf}: generation ${generation}`,
      `read it with: ranklog standings ${board} --generation ${generation}`,
      `give it up with: ranklog boards discard ${generation}`,
    ].join('\n'),
  );
  return EXIT.ok;
}

/** `ranklog boards discard GENERATION`: a snapshot goes. */
export function boardsDiscardCommand(): Command {
  return new Command('discard')
    .description('give up a snapshot and its memory; no other generation can be')
    .argument('<generation>', 'as "boards generations" shows it')
    .addHelpText('after', '\nExample:\n  ranklog boards discard 1795312800000000-0a1b2c3d4e5f')
    .action((generation: string) =>
      runCommand(() =>
        withReconciliation(async ({ catalog }) => {
          if (!(await catalog.removeSnapshot(generation)))
            throw new CommandError(
              `there is no snapshot ${generation}; "ranklog boards generations" lists them`,
              EXIT.no,
            );
          while ((await catalog.sweep()) > 0);
          process.stdout.write(`${generation}: discarded\n`);
          return EXIT.ok;
        }),
      ),
    );
}

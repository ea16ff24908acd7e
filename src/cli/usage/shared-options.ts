import { Option, type Command } from 'commander';
import type { From } from '../../generations/shadow-plan.js';
import { collectWhere, momentOf, pastTimeOrStart, wholeNumber } from './option-values.js';

/** Options that name a view. `at` is ms. */
export interface ViewOptions {
  readonly view?: string;
  readonly window?: string;
  readonly where?: readonly (readonly [string, string])[];
  readonly at?: number;
}

/** Gives a command `--generation`. */
export function addGenerationOption(command: Command): Command {
  return command.option(
    '--generation <id>',
    'a snapshot of the board, as "boards generations" shows it, in place of the live one',
  );
}

/** Gives a command the options of ViewOptions. */
export function addViewOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--view <view>', 'the view, as "ranklog views" spells it').conflicts([
        'window',
        'where',
      ]),
    )
    .option(
      '--window <window>',
      'the window of the view, such as week, week:previous or week:2026-W47 (default: all, else the first one)',
    )
    .option('--where <name=value>', 'a dimension of the view; repeat it for several', collectWhere)
    .option(
      '--at <time>',
      'the time whose current and previous windows are meant (default: now)',
      momentOf,
    );
}

/** Options of commands that build. */
export interface BuildOptions {
  readonly from?: From;
  /** Events per second. */
  readonly throttle?: number;
  readonly allowPartialHistory?: boolean;
  readonly json?: boolean;
}

/** Gives a command `--throttle`. */
export function addThrottleOption(command: Command): Command {
  return command.option(
    '--throttle <n>',
    'read at most so many events per second, to leave Redis to the traffic',
    wholeNumber,
  );
}

/** Gives a command the options of BuildOptions. */
export function addBuildOptions(command: Command): Command {
  return addThrottleOption(command)
    .option(
      '--from <time>',
      'leave out what was sent before this time, by the timestamps of the records; written into the generation, and kept by builds that come after; "start" takes all that the log has (default: where the live generation begins)',
      pastTimeOrStart,
    )
    .option(
      '--allow-partial-history',
      'build from what is left of a log whose beginning is gone; written into the generation, and shown in every status',
    )
    .option('--json', 'as JSON');
}

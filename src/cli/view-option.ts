import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseView, viewToRead, windowName, type BoardDefinition } from '#board';
import { parseTime } from '#contracts';

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

function collectWhere(
  text: string,
  before: readonly (readonly [string, string])[] = [],
): (readonly [string, string])[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write --where name=value');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

/** ms of a time with a zone, for commander. */
export function momentOf(text: string): number {
  const time = parseTime(text);
  if (time === undefined)
    throw new InvalidArgumentError('use a time with a zone, such as 2026-11-20T09:00:00Z');
  return time;
}

/** The view that the options name; where they say nothing, the overall one of `all`, else of the board's first window. */
export function viewOf(
  definition: BoardDefinition,
  { view, window, where = [], at = Date.now() }: ViewOptions,
): string {
  const asked =
    view === undefined ? { window: window ?? usualWindow(definition), where } : parseView(view);
  return viewToRead(definition, asked, at).view;
}

function usualWindow({ windows }: BoardDefinition): string {
  const usual = windows.find(({ kind }) => kind === 'all') ?? windows[0];
  return usual === undefined ? 'all' : windowName(usual);
}

import { isPublishOnly } from '../../reconciliation/boards/field-changes.js';
import type { ClosingChange } from '../../reconciliation/boards/closing-changes.js';
import type { LeftOut } from '../../reconciliation/boards/left-out.js';
import {
  needsBuild,
  type BuiltBy,
  type Plan,
  type PlannedBoard,
} from '../../reconciliation/boards/plan.js';
import { megabytes } from '../../reconciliation/runs/run-errors.js';
import { WHOLE_LOG_HINT, countText, durationText, partialText } from './value-text.js';

/**
 * A plan for people. `graceMs`: how long the previous generation is kept; `remove`: boards to
 * remove.
 */
export function planText(
  { boards, backfill, cut, bans }: Plan,
  { graceMs, remove = [] }: { readonly graceMs: number; readonly remove?: readonly string[] },
): string {
  const built = boards.filter(needsBuild);
  const changed = built.filter(({ liveBytes }) => liveBytes !== null);
  const paragraphs = [
    boards.map(boardText).join('\n'),
    backfill === null && remove.length === 0 && idleText(boards),
    backfill !== null && `building ${namesOf(built)}: ${backfillText(backfill)}`,
    cut.length > 0 && cutText(cut),
    bans.length > 0 && bansText(bans, built),
    changed.length > 0 && memoryText(changed, graceMs),
    remove.length > 0 && `to be removed permanently: ${remove.join(', ')}`,
  ];
  return paragraphs.filter(Boolean).join('\n\n');
}

function namesOf(boards: readonly PlannedBoard[]): string {
  return boards.map(({ board }) => board).join(', ');
}

const SIGNS: Readonly<Record<PlannedBoard['change'], string>> = {
  new: '+',
  building: '+',
  changed: '~',
  removed: '-',
  same: '=',
};

function idleText(boards: readonly PlannedBoard[]): string {
  const others = namesOf(boards.filter(({ builtBy }) => builtBy !== null));
  return others === ''
    ? 'nothing to do: the live boards match the file'
    : `nothing to do: other processes build ${others}`;
}

function boardText(planned: PlannedBoard): string {
  const { board, fields, startsAt, leftOut, closings } = planned;
  const lines = [`${SIGNS[planned.change]} ${board}: ${changeText(planned)}`];
  for (const { field, before, after } of fields)
    lines.push(`    ${field}: ${before ?? '(not set)'} -> ${after ?? '(not set)'}`);
  if (startsAt !== null) {
    const start = partialText(startsAt);
    lines.push(`    starts where the live generation does: ${start}; ${WHOLE_LOG_HINT}`);
  }
  if (isPublishOnly(fields)) lines.push(PUBLISH_ONLY);
  if (leftOut !== null && leftOut.events > 0) lines.push(`  ! ${leftOutText(leftOut)}`);
  if (closings.length > 0) lines.push(`  ! ${closingsText(closings)}`);
  return lines.join('\n');
}

/** What a build leaves out, and how to allow that. */
export function leftOutText({ events, isExact, kinds }: LeftOut): string {
  const each = kinds.map(
    ({ code, example, events }) => `${countText(events)} ${code} (${example})`,
  );
  const sampled = isExact ? '' : ' in a sample of the log';
  return (
    `leaves out ${countText(events)} event(s)${sampled} that the live generation counts, and ` +
    `needs --allow-left-out: ${each.join(', ')}`
  );
}

const SHOWN_CLOSINGS = 5;

function closingsText(closings: readonly ClosingChange[]): string {
  const shown = closings.slice(0, SHOWN_CLOSINGS).map(({ window, before, after }) => {
    return `${window}: ${before ?? 'never'} -> ${after ?? 'never'}`;
  });
  const rest = closings.length - shown.length;
  const more = rest === 0 ? '' : `; and ${countText(rest)} more (--json lists all)`;
  return (
    `closes ${countText(closings.length)} window(s) that have ended at another time, so their ` +
    `ranks may change, and results be announced: ${shown.join('; ')}${more}`
  );
}

const PUBLISH_ONLY =
  '  ! only published results change; the ranks stay, but the board must be built again';

function changeText({ change, board, generation, builtBy }: PlannedBoard): string {
  switch (change) {
    case 'new':
      return 'new';
    case 'building':
      return builtBy === null
        ? 'new; registered, but no process builds it yet'
        : builtByText(builtBy);
    case 'changed':
      return `changed; live generation ${generation ?? ''}`;
    case 'removed':
      return `not in the file; kept unless you run "ranklog boards apply --remove ${board}"`;
    case 'same':
      return 'unchanged';
  }
}

function builtByText({ holder, done, total, definition }: BuiltBy): string {
  const progress = `new; ${holder} builds it: ${done} of ${total} records`;
  if (definition === 'same') return progress;
  return `${progress}, with another definition than the file; apply again once it is live`;
}

export function backfillText({ records, lastBuild }: NonNullable<Plan['backfill']>): string {
  if (records === 0) return 'nothing to read: no record of the log is applied yet';
  const read = `reads ${countText(records)} record(s) of the log in one pass`;
  if (lastBuild === null) return read;
  const { seconds } = lastBuild;
  return (
    `${read}; the last build took ${durationText(seconds)} for ${countText(lastBuild.records)} ` +
    'record(s)'
  );
}

export function cutText(cut: Plan['cut']): string {
  const places = cut.map(({ partition, logStart }) => `${partition} at offset ${logStart}`);
  return (
    `! the beginning of the log is gone (it now begins in partition ${places.join(', ')}), so ` +
    'a build lacks the events before and needs --allow-partial-history'
  );
}

function bansText(bans: Plan['bans'], built: readonly PlannedBoard[]): string {
  const fresh = namesOf(built.filter(({ generation }) => generation === null));
  const others = bans.map(({ board, count }) => `${countText(count)} on ${board}`);
  return (
    `! players are banned or erased: ${others.join(', ')}, and not on ${fresh}; once it is ` +
    'live, "ranklog players list BOARD --json | ranklog players ban NEW --file -" bans them ' +
    'there, but keeps the scores of erased players until "ranklog players erase" is sent for ' +
    'NEW, too'
  );
}

function memoryText(changed: readonly PlannedBoard[], graceMs: number): string {
  const lines = changed.map(
    ({ board, liveBytes }) => `  ${board}: ${megabytes(liveBytes ?? 0)} in its live generation`,
  );
  return (
    `memory in Redis:\n${lines.join('\n')}\n` +
    `each of these generations is kept for ${durationText(graceMs / 1_000)} beside the new one, ` +
    'for "ranklog boards rollback"'
  );
}

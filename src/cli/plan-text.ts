import { WHOLE_LOG_HINT, startsText } from './formats.js';
import { bytesText, countText, durationText } from './formats.js';
import { isPublishOnly, type FieldChange } from '../registry/field-changes.js';
import { needsBuild, type BuiltBy, type Plan, type PlannedBoard } from '../registry/plan.js';

interface PlanTextOptions {
  /** How long the generation before is kept. */
  readonly graceMs: number;
  /** Boards that are to be removed. */
  readonly remove?: readonly string[];
}

/** A plan for people. */
export function planText(
  { boards, backfill, cut }: Plan,
  { graceMs, remove = [] }: PlanTextOptions,
): string {
  const head = boards.map(boardText).join('\n');
  const removal = remove.length === 0 ? [] : [`to be removed for good: ${remove.join(', ')}`];
  if (backfill === null)
    return [head, ...(removal.length === 0 ? [idleText(boards)] : removal)].join('\n\n');
  const built = boards.filter(needsBuild);
  const names = built.map(({ board }) => board).join(', ');
  const changed = built.filter(({ liveBytes }) => liveBytes !== null);
  return [
    head,
    `building ${names}: ${backfillText(backfill)}`,
    ...(cut.length === 0 ? [] : [cutText(cut)]),
    ...(changed.length === 0 ? [] : [memoryText(changed, graceMs)]),
    ...removal,
  ].join('\n\n');
}

const SIGNS: Readonly<Record<PlannedBoard['change'], string>> = {
  new: '+',
  building: '+',
  changed: '~',
  removed: '-',
  same: '=',
};

function idleText(boards: readonly PlannedBoard[]): string {
  const others = boards.filter(({ builtBy }) => builtBy !== null).map(({ board }) => board);
  return others.length === 0
    ? 'nothing to do: the live boards are as the file says'
    : `nothing to do: ${others.join(', ')} will be live without it`;
}

function boardText(planned: PlannedBoard): string {
  const { board, fields, startsAt } = planned;
  return [
    `${SIGNS[planned.change]} ${board}: ${changeText(planned)}`,
    ...fields.map((field) => `    ${fieldText(field)}`),
    ...(startsAt === null
      ? []
      : [`    begins where what is live does: ${startsText(startsAt)}; ${WHOLE_LOG_HINT}`]),
    ...(isPublishOnly(fields) ? [PUBLISH_ONLY] : []),
  ].join('\n');
}

const PUBLISH_ONLY =
  '  ! only what is published changes: every rank stays, but the board is built again, as a generation has one definition';

function changeText({ change, board, generation, builtBy }: PlannedBoard): string {
  switch (change) {
    case 'new':
      return 'new';
    case 'building':
      return builtBy === null ? 'new, and registered; nobody builds it yet' : builtByText(builtBy);
    case 'changed':
      return `changed, live as generation ${generation ?? ''}`;
    case 'removed':
      return `not in the file; stays unless "ranklog boards apply --remove ${board}" says otherwise`;
    case 'same':
      return 'the same';
  }
}

function builtByText({ holder, done, total, definition }: BuiltBy): string {
  const progress = `${holder} builds it, ${done} of ${total} records`;
  return definition === 'same'
    ? `new; ${progress}: left to that`
    : `new; ${progress}, but by another definition than the file has: apply this one once that is live`;
}

function fieldText({ field, before, after }: FieldChange): string {
  return `${field}: ${before ?? '(not set)'} -> ${after ?? '(not set)'}`;
}

function backfillText({ records, lastBuild }: NonNullable<Plan['backfill']>): string {
  if (records === 0) return 'nothing to read: none of the log is applied yet';
  const read = `reads ${countText(records)} record(s) of the log, once for all`;
  if (lastBuild === null) return read;
  const { seconds } = lastBuild;
  return `${read}; the last build took ${durationText(seconds)} for ${countText(lastBuild.records)} record(s)`;
}

function cutText(cut: Plan['cut']): string {
  const places = cut.map(({ partition, logStart }) => `${partition} (from offset ${logStart})`);
  return (
    `! the beginning of the log is gone in partition ${places.join(', ')}: what is built now lacks those events, ` +
    'so it is refused without --allow-partial-history'
  );
}

function memoryText(changed: readonly PlannedBoard[], graceMs: number): string {
  const lines = changed.map(
    ({ board, liveBytes }) => `  ${board}: ${bytesText(liveBytes ?? 0)} in its live generation`,
  );
  return (
    `memory in Redis:\n${lines.join('\n')}\n` +
    `that generation stays beside the new one for ${durationText(graceMs / 1_000)}: so long "ranklog boards rollback" works`
  );
}

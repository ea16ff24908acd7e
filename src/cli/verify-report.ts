import { decimalColumns, formatTime, parseState, reachTime, type BoardDefinition } from '#board';
import type { Difference, TooManyViews } from '#board-store';
import type { VerifyReport } from '../verify/verify.js';
import { table } from './output.js';
import { countText } from './formats.js';

/** The expected or found value of a difference. `raw` is a text that is not a valid state. */
export type Side =
  | { readonly columns: Readonly<Record<string, string>>; readonly reachedAt: string }
  | { readonly expiresAt: string | null }
  | { readonly clock: string }
  | { readonly appliedOffset: string }
  | { readonly eventIds: string }
  | { readonly raw: string };

/** A difference as `boards verify --json` prints it; null: no value. */
export interface DifferenceJson {
  readonly view: string;
  readonly kind: Difference['kind'];
  readonly playerId: string | null;
  readonly expected: Side | null;
  readonly found: Side | null;
}

export function reportJson(definition: BoardDefinition, report: VerifyReport) {
  const { board, generation, equal, places, views, differenceCount, appliedOffsets } = report;
  const { differences, tooManyViews } = report;
  return {
    board,
    generation,
    equal,
    ...(tooManyViews === undefined ? {} : { notComparable: reasonText(tooManyViews) }),
    places,
    views,
    appliedOffsets,
    differenceCount,
    differences: differences.map((difference) => differenceJson(definition, difference)),
  };
}

/** A report for people: a sentence, and a line for each difference. */
export function reportText(definition: BoardDefinition, report: VerifyReport): string {
  const { board, generation, places, views, differenceCount, equal, differences } = report;
  if (report.tooManyViews !== undefined)
    return `${board}: not comparable: ${reasonText(report.tooManyViews)}; generation ${generation}`;
  const compared = `${countText(places)} place(s) in ${countText(views)} view(s) compared`;
  if (equal === true) return `${board}: equal to the log; ${compared}, generation ${generation}`;
  const head = `${board}: ${countText(differenceCount)} difference(s) to the log; ${compared}, generation ${generation}`;
  const rows = differences.map((difference) => {
    const { view, kind, playerId, expected, found } = differenceJson(definition, difference);
    return [
      view === '' ? '-' : view,
      KINDS[kind],
      playerId ?? '-',
      sideText(expected),
      sideText(found),
    ];
  });
  const more =
    differences.length < differenceCount
      ? `\n${countText(differences.length)} of ${countText(differenceCount)} differences shown`
      : '';
  return `${head}\n\n${table(['view', 'difference', 'player', 'in the log', 'in Redis'], rows)}${more}`;
}

function reasonText({ expected, found }: TooManyViews): string {
  return (
    `maxViews refused ${countText(expected)} event(s) of the log, and ${countText(found)} on the live board; which events depends on the ` +
    'order of the partitions; raise maxViews in the boards file, run "ranklog boards apply", then verify again'
  );
}

const KINDS: Readonly<Record<Difference['kind'], string>> = {
  missing: 'missing player',
  extra: 'extra player',
  columns: 'columns',
  reachTime: 'reach time',
  order: 'order',
  view: 'view',
  clock: 'event clock',
  appliedOffset: 'applied offset',
  eventIds: 'event ids of deduplicate',
};

function differenceJson(definition: BoardDefinition, difference: Difference): DifferenceJson {
  const { view, kind, playerId, expected, found } = difference;
  const side = (text: string | undefined) => sideOf(definition, kind, text);
  return { view, kind, playerId: playerId ?? null, expected: side(expected), found: side(found) };
}

function sideOf(
  definition: BoardDefinition,
  kind: Difference['kind'],
  text: string | undefined,
): Side | null {
  if (text === undefined || text === '') return null;
  switch (kind) {
    case 'view':
      return { expiresAt: text === 'never' ? null : timeText(text) };
    case 'clock':
      return { clock: timeText(text) };
    case 'appliedOffset':
      return { appliedOffset: text };
    case 'eventIds':
      return { eventIds: text };
    default:
      return stateSide(definition, text);
  }
}

/** Columns and reach time of a state; the text itself if it is not a valid state. */
function stateSide(definition: BoardDefinition, text: string): Side {
  const state = parseState(text);
  const isValid =
    state.length === definition.columns.length &&
    state.every(({ value, time }) => Number.isSafeInteger(value) && Number.isSafeInteger(time));
  if (!isValid) return { raw: text };
  const values = state.map(({ value }) => value);
  return {
    columns: decimalColumns(definition, values),
    reachedAt: formatTime(reachTime(state)),
  };
}

function timeText(ms: string): string {
  return /^-?\d{1,15}$/.test(ms) ? formatTime(Number(ms)) : ms;
}

function sideText(side: Side | null): string {
  if (side === null) return '-';
  if ('raw' in side) return `(invalid) ${side.raw}`;
  if ('clock' in side) return side.clock;
  if ('appliedOffset' in side) return side.appliedOffset;
  if ('eventIds' in side) return side.eventIds;
  if ('expiresAt' in side) return `expires ${side.expiresAt ?? 'never'}`;
  const columns = Object.entries(side.columns).map(([name, value]) => `${name} ${value}`);
  return `${columns.join(', ')} at ${side.reachedAt}`;
}

import {
  decimalColumns,
  EARLIEST_TIME,
  formatTime,
  isState,
  LATEST_TIME,
  readStates,
  reachTime,
  type BoardDefinition,
  type ColumnState,
} from '#board';
import { describeBan, type Difference, type TooManyViews } from '#board-store';
import type { VerifyReport } from '../../reconciliation/verify/verify.js';
import { table } from './output.js';
import { countText } from './value-text.js';

export function reportJson(report: VerifyReport) {
  const { definition, differences, tooManyViews, ...facts } = report;
  const rows = differences.map(({ view, kind, playerId = null, expected, found }) => ({
    view,
    kind,
    playerId,
    expected: sideOf(definition, kind, expected)?.json ?? null,
    found: sideOf(definition, kind, found)?.json ?? null,
  }));
  if (tooManyViews === undefined) return { ...facts, differences: rows };
  return { ...facts, notComparable: reasonText(tooManyViews), differences: rows };
}

/** A report for people: a sentence, and a line for each difference. */
export function reportText(report: VerifyReport): string {
  const { board, generation, definition, differences, differenceCount, tooManyViews } = report;
  if (tooManyViews !== undefined)
    return `${board}: not comparable: ${reasonText(tooManyViews)}; generation ${generation}`;
  const places = `${countText(report.places)} place(s) in ${countText(report.views)} view(s)`;
  const compared = `${places} compared, generation ${generation}`;
  if (differenceCount === 0) return `${board}: equal to the log; ${compared}`;
  const head = `${board}: ${countText(differenceCount)} difference(s) to the log; ${compared}`;
  const rows = differences.map(({ view, kind, playerId = '-', expected, found }) => [
    view === '' ? '-' : view,
    KINDS[kind],
    playerId,
    sideOf(definition, kind, expected)?.text ?? '-',
    sideOf(definition, kind, found)?.text ?? '-',
  ]);
  const more =
    differences.length < differenceCount
      ? `\n${countText(differences.length)} of ${countText(differenceCount)} differences shown`
      : '';
  return (
    `${head}\n\n` +
    `${table(['view', 'difference', 'player', 'in the log', 'in Redis'], rows)}${more}`
  );
}

function reasonText({ expected, found }: TooManyViews): string {
  return (
    `maxViews refused ${countText(expected)} event(s) in the build for this verify, and ` +
    `${countText(found)} on the live board; which ones it refuses depends on the ` +
    'order in which the partitions are applied; raise maxViews in the boards file, run "ranklog ' +
    'boards apply", then verify again'
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
  ban: 'ban or erasure',
};

/** The expected or found value of a difference, for programs and for people. */
function sideOf(definition: BoardDefinition, kind: Difference['kind'], text?: string) {
  if (text === undefined || text === '') return undefined;
  if (kind === 'appliedOffset' || kind === 'eventIds') return { json: { [kind]: text }, text };
  if (kind === 'ban') return { json: { ban: describeBan(text) }, text: describeBan(text) };
  if (kind !== 'view' && kind !== 'clock') return stateSide(definition, text);
  const time = /^-?\d{1,15}$/.test(text) ? formatTime(Number(text)) : text;
  if (kind === 'clock') return { json: { clock: time }, text: time };
  return { json: { expiresAt: text === 'never' ? null : time }, text: `expires ${time}` };
}

/** Columns and reach time of a state; the text itself if it is not a state of the board. */
function stateSide(definition: BoardDefinition, text: string) {
  const bytes = Buffer.from(text, 'hex');
  const count = definition.columns.length;
  const state = isState(bytes, count) ? readStates(bytes, count)[0] : undefined;
  if (state === undefined || !state.every(isValid))
    return { json: { raw: text }, text: `(invalid) ${text}` };

  const values = state.map(({ value }) => value);
  const columns = decimalColumns(definition, values);
  const reachedAt = formatTime(reachTime(state));
  const texts = Object.entries(columns).map(([name, value]) => `${name} ${value}`);
  return { json: { columns, reachedAt }, text: `${texts.join(', ')} at ${reachedAt}` };
}

function isValid({ value, time }: ColumnState): boolean {
  return Number.isSafeInteger(value) && time >= EARLIEST_TIME && time <= LATEST_TIME;
}

import type { RecordPlace, VoidChange } from '#board';
import type { Backfill } from '../../reconciliation/boards/plan.js';
import { CommandError, EXIT } from './exit-codes.js';
import { table } from './output.js';
import { backfillText } from './plan-text.js';

/** A score event by its player and id, or by the place of its record. */
export type ScoreName =
  | { readonly kind: 'id'; readonly playerId: string; readonly eventId: string }
  | { readonly kind: 'place'; readonly partition: number; readonly offset: number };

/** A record of a score event, and whether it counts. */
export interface FoundScore extends RecordPlace {
  readonly playerId: string;
  readonly eventId: string | null;
  /** null for a dead letter without a time of its own. */
  readonly occurredAt: string | null;
  /** By column; empty for a dead letter. */
  readonly values: Readonly<Record<string, string>>;
  /** The views that it changes, or would change if it was not voided. */
  readonly views: readonly string[];
  readonly isVoided: boolean;
  /** `counts`, `voided`, or why it never counted. */
  readonly effect: string;
}

/**
 * The records of a named event. By its id: all records of the player with this id. By its place:
 * this record, the one that it retries, and retries of either.
 */
export interface NamedScore {
  readonly name: ScoreName;
  readonly records: FoundScore[];
}

/** A player's place in a view; null if the player has none, or the view has expired. */
export interface ScorePlace {
  readonly playerId: string;
  readonly view: string;
  readonly place: {
    readonly rank: number;
    readonly columns: Readonly<Record<string, string>>;
  } | null;
}

export function scoreNameText(name: ScoreName): string {
  return name.kind === 'id'
    ? `player ${JSON.stringify(name.playerId)}, event ${JSON.stringify(name.eventId)}`
    : `${name.partition}/${name.offset}`;
}

const MOST_PROBLEMS = 20;

/** @throws CommandError unless all events can be changed */
export function checkScores(
  kind: VoidChange['kind'],
  board: string,
  found: readonly NamedScore[],
): void {
  const problems = found.flatMap((score) => {
    const problem = problemOf(kind, score);
    return problem === undefined ? [] : [`${scoreNameText(score.name)} ${problem}`];
  });
  if (problems.length === 0) return;
  const shown = problems.slice(0, MOST_PROBLEMS);
  const more = problems.length - shown.length;
  throw new CommandError(
    `can't ${kind} on board "${board}": ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}; nothing was changed`,
    EXIT.no,
  );
}

/** Of an event named by its id, one record must count (be voided); of a place, its own record. */
function problemOf(kind: VoidChange['kind'], { name, records }: NamedScore): string | undefined {
  if (records.length === 0)
    return name.kind === 'id'
      ? 'is not in the part of the log that is applied to the board'
      : 'is no score event of the board, or not in the part of the log that is applied to it';
  const own = records.filter(
    ({ partition, offset }) =>
      name.kind === 'id' || (partition === name.partition && offset === name.offset),
  );
  if (kind === 'unvoid') return own.some(({ isVoided }) => isVoided) ? undefined : 'is not voided';
  if (own.some(({ effect }) => effect === 'counts')) return undefined;
  if (own.some(({ effect }) => effect === 'voided')) return 'is voided already';
  return `never counted (${records.map(placeAndEffect).join(', ')})`;
}

function placeAndEffect({ partition, offset, effect }: FoundScore): string {
  return `${partition}/${offset}: ${effect}`;
}

/** All records of the events, each once, in the order of the log. */
export function recordsOf(found: readonly NamedScore[]): FoundScore[] {
  const records = found.flatMap((score) => score.records);
  const byPlace = new Map(records.map((one) => [`${one.partition}/${one.offset}`, one]));
  return [...byPlace.values()].sort((a, b) => a.partition - b.partition || a.offset - b.offset);
}

interface Plan {
  readonly board: string;
  readonly kind: VoidChange['kind'];
  readonly records: readonly FoundScore[];
}

export function foundText({ board, records }: Plan, backfill: Backfill): string {
  const names = [...new Set(records.flatMap(({ values }) => Object.keys(values)))];
  const rows = records.map(
    ({ partition, offset, playerId, eventId, occurredAt, values, effect }) => [
      `${partition}/${offset}`,
      ...[playerId, eventId ?? '-', occurredAt ?? '-'],
      ...names.map((name) => values[name] ?? '-'),
      effect,
    ],
  );
  return [
    table(['record', 'player', 'event', 'occurred', ...names, 'now'], rows),
    `building ${board}: ${backfillText(backfill)}`,
  ].join('\n\n');
}

type Changed = Plan & {
  readonly generation: string;
  readonly places: readonly (ScorePlace & { readonly after: ScorePlace['place'] })[] | null;
};

export function changedText({ board, kind, records, generation, places }: Changed): string {
  const what = kind === 'void' ? 'voided' : 'not voided any more';
  const lines = (places ?? []).map(
    ({ playerId, view, place, after }) =>
      `${playerId} in ${view}: ${placeText(place)} -> ${placeText(after)}`,
  );
  const head = `${board}: ${records.length} record(s) ${what}; live as generation ${generation}`;
  return [head, ...lines].join('\n');
}

function placeText(place: ScorePlace['place']): string {
  if (place === null) return 'not ranked';
  const columns = Object.entries(place.columns).map(([name, value]) => `${name} ${value}`);
  return `rank ${place.rank} (${columns.join(', ')})`;
}

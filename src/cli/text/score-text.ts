import type { BoardDefinition, RecordPlace, VoidChange } from '#board';
import type { PlayerRecordKind } from '#contracts';
import type { Backfill } from '../../reconciliation/boards/plan.js';
import type { CutPartition } from '../../reconciliation/runs/run-errors.js';
import { CommandError, EXIT } from './exit-codes.js';
import { table } from './output.js';
import { backfillText, cutText } from './plan-text.js';

/** A score event by its player and id, or by the place of its record. */
export type ScoreName =
  | { readonly kind: 'id'; readonly playerId: string; readonly eventId: string }
  | { readonly kind: 'place'; readonly partition: number; readonly offset: number };

/** A record of a score event, or a ban, unban or erasure of a player, and whether it counts. */
export interface FoundScore extends RecordPlace {
  readonly playerId: string;
  readonly eventId: string | null;
  /** Of a player record; null for a score event. */
  readonly kind: PlayerRecordKind | null;
  /** The records that it retries. */
  readonly retryOf: readonly RecordPlace[];
  /** null for a dead letter without a time of its own. */
  readonly occurredAt: string | null;
  /** By column; empty for a dead letter. */
  readonly values: Readonly<Record<string, string>>;
  /** The views that it changes, or would change if it was not voided. */
  readonly views: readonly string[];
  /** `counts`, `voided`, or why it never counted. */
  readonly effect: string;
}

/**
 * The records of a named event. By its id: all records of the player with this id. By its place:
 * this record and its retries.
 */
export interface NamedScore {
  readonly name: ScoreName;
  readonly records: FoundScore[];
  /** Of an event that is named by its id: whether the player has any event on the board. */
  isPlayerKnown: boolean;
}

/** A voided record. Its other fields are null if the log does not have it any more. */
export interface VoidedRecord extends RecordPlace {
  readonly playerId: string | null;
  readonly eventId: string | null;
  /** Of a player record; null for a score event. */
  readonly kind: PlayerRecordKind | null;
}

export function scoreNameText(name: ScoreName): string {
  return name.kind === 'id'
    ? `player ${JSON.stringify(name.playerId)}, event ${JSON.stringify(name.eventId)}`
    : placeText(name);
}

export function placeText({ partition, offset }: Omit<RecordPlace, 'timestamp'>): string {
  return `${partition}/${offset}`;
}

const MOST_SHOWN = 20;

/** `0/17  player "ada", event "one"`: a line of a file that `--file` reads. */
export function voidedText({ playerId, eventId, kind, ...place }: VoidedRecord): string {
  if (playerId === null) return `${placeText(place)}  not in the log`;
  const event = eventId === null ? '' : `, event ${JSON.stringify(eventId)}`;
  const what = kind === null ? event : `, ${kind}`;
  return `${placeText(place)}  player ${JSON.stringify(playerId)}${what}`;
}

/**
 * `partitions`: how many the topic has.
 * @throws CommandError if an event that is to be voided is unknown, or never counted
 */
export function checkVoidable(
  board: string,
  found: readonly NamedScore[],
  partitions: number,
): void {
  const problems = found.flatMap((score) => {
    const problem = problemOf(score, partitions);
    return problem === undefined ? [] : [`${scoreNameText(score.name)} ${problem}`];
  });
  if (problems.length === 0) return;
  throw new CommandError(
    `can't void on board "${board}": ${listText(problems)}; nothing was changed`,
    EXIT.no,
  );
}

function problemOf(
  { name, records, isPlayerKnown }: NamedScore,
  partitions: number,
): string | undefined {
  if (records.length === 0) {
    if (name.kind === 'id')
      return (
        'is not in the part of the log that is applied to the board, which has ' +
        `${isPlayerKnown ? 'other events' : 'no event'} of the player`
      );
    if (name.partition >= partitions)
      return `does not exist: the topic has ${partitions} partition(s), numbered from 0`;
    return (
      'is no score event or player record of the board, or not in the part of the log that is ' +
      'applied to it'
    );
  }
  if (records.some(({ effect }) => effect === 'counts' || effect === 'voided')) return undefined;
  const effects = records.map((record) => `${placeText(record)}: ${record.effect}`);
  return `never counted (${effects.join(', ')})`;
}

function listText(texts: readonly string[]): string {
  const more = texts.length - MOST_SHOWN;
  const shown = texts.slice(0, MOST_SHOWN).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/** The voids to add or to remove. Empty if no event needs a change. */
export function placesToChange(
  kind: VoidChange['kind'],
  { voids = [] }: BoardDefinition,
  found: readonly NamedScore[],
): RecordPlace[] {
  if (kind === 'void') return distinct(found.filter(counts).flatMap(placesOf));
  // Named places may be of records that the log no longer has, or of an earlier topic.
  const named = found.flatMap((score) =>
    score.name.kind === 'place' ? [score.name, ...placesOf(score)] : placesOf(score),
  );
  const texts = new Set(named.map(placeText));
  return voids.filter((place) => texts.has(placeText(place)));
}

function counts({ records }: NamedScore): boolean {
  return records.some(({ effect }) => effect === 'counts');
}

function placesOf({ records }: NamedScore): RecordPlace[] {
  return records
    .flatMap((record) => [record, ...record.retryOf])
    .map(({ partition, offset, timestamp }) => ({ partition, offset, timestamp }));
}

/** All records of the events, each once, in the order of the log. */
export function recordsOf(found: readonly NamedScore[]): FoundScore[] {
  return distinct(found.flatMap(({ records }) => records));
}

function distinct<T extends RecordPlace>(places: readonly T[]): T[] {
  const byPlace = new Map(places.map((place) => [placeText(place), place]));
  return [...byPlace.values()].sort((a, b) => a.partition - b.partition || a.offset - b.offset);
}

/** For events that need no change. */
export function alreadyText(kind: VoidChange['kind'], found: readonly NamedScore[]): string {
  const names = found.map(({ name }) => scoreNameText(name));
  const what = kind === 'void' ? 'voided already' : 'not voided';
  return `nothing to do: ${what}: ${listText(names)}`;
}

interface Plan {
  readonly board: string;
  readonly records: readonly FoundScore[];
  readonly cut: readonly CutPartition[];
}

export function foundText({ board, records, cut }: Plan, backfill: Backfill): string {
  const names = [...new Set(records.flatMap(({ values }) => Object.keys(values)))];
  const rows = records.map(({ playerId, eventId, kind, occurredAt, values, effect, ...place }) => [
    placeText(place),
    playerId,
    eventId ?? kind ?? '-',
    occurredAt ?? '-',
    ...names.map((name) => values[name] ?? '-'),
    effect,
  ]);
  return [
    table(['record', 'player', 'event', 'occurred', ...names, 'now'], rows),
    `building ${board}: ${backfillText(backfill)}`,
    ...(cut.length > 0 ? [cutText(cut)] : []),
  ].join('\n\n');
}

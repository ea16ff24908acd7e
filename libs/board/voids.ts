import { TooManyVoidsError } from './board-errors.js';
import { derived, type BoardDefinition, type RecordPlace } from './definition.js';

/** Kafka accepts records of 1 MiB by default, and the definition of a board is one record. */
export const MAX_VOIDS = 10_000;
export const MAX_VOIDS_BYTES = 262_144;

/** Voids the score events at places, or takes that back. */
export interface VoidChange {
  readonly kind: 'void' | 'unvoid';
  readonly places: readonly RecordPlace[];
}

/** Timestamps by partition and offset. */
const timestamps = derived(({ voids = [] }) => {
  const byPartition = new Map<number, Map<number, number>>();
  for (const { partition, offset, timestamp } of voids) {
    const offsets = byPartition.get(partition) ?? new Map<number, number>();
    byPartition.set(partition, offsets.set(offset, timestamp));
  }
  return byPartition;
});

/** Whether a definition voids the score event of a record. */
export function isVoided(
  definition: BoardDefinition,
  partition: number,
  { offset, timestamp }: Omit<RecordPlace, 'partition'>,
): boolean {
  if (definition.voids === undefined) return false;
  return timestamps(definition).get(partition)?.get(offset) === timestamp;
}

/** A definition with these voids in place of its own. */
export function withVoids(
  definition: BoardDefinition,
  voids: readonly RecordPlace[] = [],
): BoardDefinition {
  if (voids.length === 0 && definition.voids === undefined) return definition;
  return { ...definition, voids: voids.length === 0 ? undefined : voids };
}

/**
 * The definition after a change of its voids. Drops places below `logStarts`, by partition: no build
 * reads these records any more. @throws TooManyVoidsError
 */
export function changeVoids(
  definition: BoardDefinition,
  { kind, places }: VoidChange,
  logStarts: ReadonlyMap<number, number>,
): BoardDefinition {
  // An offset has one record. A place there with another timestamp is of an earlier topic.
  const voids = new Map((definition.voids ?? []).map((place) => [keyOf(place), place]));
  for (const place of places) {
    if (kind === 'void') voids.set(keyOf(place), place);
    else voids.delete(keyOf(place));
  }
  const kept = [...voids.values()]
    .filter(({ partition, offset }) => offset >= (logStarts.get(partition) ?? 0))
    .sort(inOrder);
  const bytes = JSON.stringify(kept.map(voidText)).length;
  if (kind === 'void' && (kept.length > MAX_VOIDS || bytes > MAX_VOIDS_BYTES))
    throw new TooManyVoidsError(definition.board, kept.length, MAX_VOIDS);
  return withVoids(definition, kept);
}

/** The voids of one definition that another one lacks. */
export function missingVoids(from: BoardDefinition, to: BoardDefinition): RecordPlace[] {
  return (from.voids ?? []).filter((place) => !isVoided(to, place.partition, place));
}

/** Whether the voids of a definition are as `changeVoids` makes them. */
export function hasValidVoids({ voids = [] }: BoardDefinition): boolean {
  return (
    voids.length <= MAX_VOIDS &&
    voids.every((place, index) => {
      const before = voids[index - 1];
      const isAfter = before === undefined || inOrder(before, place) < 0;
      return isAfter && isPlace(place);
    })
  );
}

/** A record without a timestamp has -1. Timestamps beyond 2^53 are rounded in the same way each time. */
function isPlace({ partition, offset, timestamp }: RecordPlace): boolean {
  const isInLog = [partition, offset].every(
    (number) => Number.isSafeInteger(number) && number >= 0,
  );
  return isInLog && Number.isInteger(timestamp);
}

function keyOf({ partition, offset }: RecordPlace): string {
  return `${partition}/${offset}`;
}

function inOrder(a: RecordPlace, b: RecordPlace): number {
  return a.partition - b.partition || a.offset - b.offset;
}

/** In the text of a definition. A list is half as long as an object. */
export type VoidText = readonly [partition: number, offset: number, timestamp: number];

export function voidText({ partition, offset, timestamp }: RecordPlace): VoidText {
  return [partition, offset, timestamp];
}

import { TooManyVoidsError } from './board-errors.js';
import { derived, type BoardDefinition, type RecordPlace } from './definition.js';

/**
 * The definition of a board is one record. With the longest places, this is half of Kafka's 1 MiB.
 */
export const MAX_VOIDS = 10_000;

/** Voids the records at some places, or removes the voids of these places. */
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

/**
 * Whether a definition voids a record: by the place of the record, or by the place of a record that
 * it retries. So a retry that is sent after the void doesn't count in place of the event.
 */
export function isVoided(
  definition: BoardDefinition,
  { retryOf = [] }: { readonly retryOf?: readonly RecordPlace[] | undefined },
  partition: number,
  { offset, timestamp }: Omit<RecordPlace, 'partition'>,
): boolean {
  if (definition.voids === undefined) return false;
  if (hasVoid(definition, { partition, offset, timestamp })) return true;
  return retryOf.some((place) => hasVoid(definition, place));
}

function hasVoid(definition: BoardDefinition, { partition, offset, timestamp }: RecordPlace) {
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
 * The definition after a change of its voids. Keeps places that the log no longer has, because the
 * log may still have retries of these records.
 * @throws TooManyVoidsError
 */
export function changeVoids(
  definition: BoardDefinition,
  { kind, places }: VoidChange,
): BoardDefinition {
  // An offset has one record. A void of it with another timestamp is from before the topic was
  // recreated.
  const voids = new Map((definition.voids ?? []).map((place) => [keyOf(place), place]));
  for (const place of places) {
    if (kind === 'void') voids.set(keyOf(place), place);
    else voids.delete(keyOf(place));
  }
  if (voids.size > MAX_VOIDS) throw new TooManyVoidsError(definition.board, voids.size, MAX_VOIDS);
  return withVoids(definition, [...voids.values()].sort(inOrder));
}

/** The voids of `from` that `to` does not have. */
export function missingVoids(from: BoardDefinition, to: BoardDefinition): RecordPlace[] {
  return (from.voids ?? []).filter((place) => to.voids === undefined || !hasVoid(to, place));
}

function keyOf({ partition, offset }: RecordPlace): string {
  return `${partition}/${offset}`;
}

function inOrder(a: RecordPlace, b: RecordPlace): number {
  return a.partition - b.partition || a.offset - b.offset;
}

/** A place in the text of a definition: a list is half as long as an object. */
export type VoidText = readonly [partition: number, offset: number, timestamp: number];

export function voidText({ partition, offset, timestamp }: RecordPlace): VoidText {
  return [partition, offset, timestamp];
}

export function voidOf([partition, offset, timestamp]: VoidText): RecordPlace {
  return { partition, offset, timestamp };
}

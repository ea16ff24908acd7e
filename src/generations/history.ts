import type { Shadow, Starts } from '#board-store';
import type { LogRange } from '#kafka-batch';
import type { CutPartition } from './errors.js';

/** A shadow that is there, and the offset of the last event in it, by partition. */
export interface OpenShadow {
  readonly shadow: Shadow;
  readonly appliedOffsets: ReadonlyMap<number, number>;
}

/** By partition, the first offset that is needed, and what the log holds. */
export interface NeededHistory {
  readonly needed: (partition: number) => number;
  readonly ranges: ReadonlyMap<number, LogRange>;
}

/** The first offset that a shadow lacks, by partition. */
export function nextOf({ shadow, appliedOffsets }: OpenShadow): (partition: number) => number {
  return (partition) =>
    (appliedOffsets.get(partition) ?? (shadow.starts?.get(partition) ?? 0) - 1) + 1;
}

/** Partitions whose log begins above what is needed of them. */
export function cutPartitions({ needed, ranges }: NeededHistory): CutPartition[] {
  return [...ranges]
    .map(([partition, { start }]) => ({ partition, from: needed(partition), logStart: start }))
    .filter(({ from, logStart }) => from < logStart)
    .sort((a, b) => a.partition - b.partition);
}

/**
 * Where a time is in the log, as what is needed of it: where the first record after the time is the first that the log
 * still holds, others may have come before it.
 */
export function neededFrom(starts: Starts, ranges: ReadonlyMap<number, LogRange>): Starts {
  return new Map(
    [...starts].map(([partition, from]) => {
      const { start = 0 } = ranges.get(partition) ?? {};
      return [partition, start > 0 && from <= start ? start - 1 : from];
    }),
  );
}

/** Where a generation begins that takes what there is. */
export function startsOfRest(starts: Starts | undefined, ranges: NeededHistory['ranges']): Starts {
  const partitions = new Set([...(starts?.keys() ?? []), ...ranges.keys()]);
  return new Map(
    [...partitions].map((partition) => [
      partition,
      Math.max(starts?.get(partition) ?? 0, ranges.get(partition)?.start ?? 0),
    ]),
  );
}

/** Whether two generations begin, or end, at the same places. */
export function sameStarts(a: Starts | undefined, b: Starts | undefined): boolean {
  return isBetween(a, b, b);
}

/** Whether a generation begins at or behind `least` in every partition, and at or before `most`. */
export function isBetween(
  starts: Starts | undefined,
  least: Starts | undefined,
  most: Starts | undefined,
): boolean {
  const all = [starts, least, most];
  const partitions = new Set(all.flatMap((some) => [...(some?.keys() ?? [])]));
  return [...partitions].every((partition) => {
    const [start = 0, low = 0, high = 0] = all.map((some) => some?.get(partition));
    return low <= start && start <= high;
  });
}

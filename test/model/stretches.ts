import type { AppliedOffset, Shadow, Stretch } from '#board-store';
import type { Sandbox } from './sandbox.js';
import { oracleRecord } from './scenario-log.js';
import type { BoardStepOf } from './steps.js';

/**
 * How much of the log a builder hands to a call: a number of new records of each partition, or all;
 * and how many it repeats.
 */
export type Amount = Partial<Pick<BoardStepOf<'feed'>, 'sizes' | 'back'>>;

/**
 * Cuts the log into stretches (consecutive offsets of one partition, with the board's events), and
 * applies them to the model.
 */
export class Stretches {
  constructor(private readonly sandbox: Sandbox) {}

  /** The stretches that a builder hands to its next call. */
  next(shadow: Shadow, { sizes, back = 0 }: Amount = {}): Stretch[] {
    const { log } = this.sandbox;
    return Array.from({ length: log.partitions }, (_, partition) => {
      const offsets = log.offsets(partition);
      const appliedOffset = this.appliedOffset(shadow, partition);
      const done = offsets.filter((offset) => offset <= appliedOffset).length;
      const repeated = offsets[Math.max(0, done - back)] ?? 0;
      const from = back === 0 ? appliedOffset + 1 : Math.min(appliedOffset + 1, repeated);
      const last = Math.min(offsets.length, done + (sizes?.[partition] ?? Infinity));
      const through = Math.max(from - 1, offsets[last - 1] ?? -1);
      const all = log.entries(shadow, partition);
      const entries = all.filter(({ offset }) => offset >= from && offset <= through);
      return { partition, from, through, entries };
    });
  }

  /** Applies stretches to the model; returns the applied offsets of these partitions. */
  apply(
    shadow: Shadow,
    stretches: readonly Stretch[],
    partitions: readonly number[],
  ): Map<number, AppliedOffset> {
    const { board, generation } = shadow;
    const { model } = this.sandbox;
    const { oracle, appliedOffsets } = model.generation(generation);
    const ranked = model.ranked(model.generation(generation)) !== 'none';
    for (const { partition, through, entries } of stretches) {
      const appliedOffset = this.appliedOffset(shadow, partition);
      const to = Math.min(through, this.liveAppliedOffset(board, partition));
      if (to <= appliedOffset) continue;
      for (const entry of entries.filter(({ offset }) => offset > appliedOffset && offset <= to))
        if (entry.kind === 'event') oracle.apply(board, entry.event, partition);
        else oracle.join(board, oracleRecord(entry), { ranked });
      appliedOffsets.set(partition, to);
    }
    return new Map(
      partitions.map((partition) => {
        const live = this.liveAppliedOffset(board, partition);
        return [partition, { shadow: this.appliedOffset(shadow, partition), live }];
      }),
    );
  }

  appliedOffset({ generation }: Shadow, partition: number): number {
    return this.sandbox.model.all.get(generation)?.appliedOffsets.get(partition) ?? -1;
  }

  liveAppliedOffset(board: string, partition: number): number {
    const { live, shardOf } = this.sandbox;
    return live.model.partition(shardOf(board), partition).appliedOffset;
  }
}

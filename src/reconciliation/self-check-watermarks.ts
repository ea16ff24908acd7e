import type { WatermarkReading } from '#board-store';

/** A watermark that is lower than it was, though the shard is on the same server and was not compared with Kafka since. */
export interface FallenWatermark {
  readonly shard: number;
  readonly partition: number;
  readonly before: number;
  /** -1 for one that is gone. */
  readonly now: number;
}

/** Remembers the watermarks of each shard: while its continuity stays the same, they only grow. */
export class WatermarkMemory {
  readonly #readings = new Map<number, WatermarkReading>();

  /** What has fallen since the last reading of the shard, which this one replaces. */
  take(shard: number, reading: WatermarkReading): FallenWatermark[] {
    const before = this.#readings.get(shard);
    this.#readings.set(shard, reading);
    if (before === undefined || reading.continuity === '') return [];
    if (before.continuity !== reading.continuity) return [];
    return [...before.watermarks]
      .map(([partition, offset]) => ({
        shard,
        partition,
        before: offset,
        now: reading.watermarks.get(partition) ?? -1,
      }))
      .filter(({ before: offset, now }) => now < offset);
  }
}

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecoveryTarget } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import { loggerTo } from '../../test/support/loggers.js';
import { PartitionWaits } from './partition-waits.js';

const TARGETS: RecoveryTarget[] = [{ shard: 0, partition: 7, applied: 20, target: 250 }];

describe('partitions that wait', () => {
  let words: string[];
  let progress: number[];
  let waits: PartitionWaits;
  beforeEach(() => {
    words = [];
    progress = [];
    const continuity = { recoveryTargets: () => Promise.resolve(TARGETS) };
    waits = new PartitionWaits(
      continuity,
      loggerTo((word) => words.push(word)),
    );
  });

  /** One that is taken away whenever the test says so: its moments are as short. */
  const assigned = (partition: number) => {
    const ended = new AbortController();
    const assignment: PartitionAssignment = {
      ...{ topic: 'scores', partition, incarnation: 1, signal: ended.signal },
      stillOurs: () => Promise.resolve(true),
      restart: () => undefined,
      progress: () => progress.push(partition),
    };
    return { waiter: waits.of(assignment), ended };
  };
  /** A moment of a partition that is taken away in it. */
  const lastMoment = async (partition: number) => {
    const { waiter, ended } = assigned(partition);
    ended.abort();
    await expect(waiter.moment()).rejects.toMatchObject({ name: 'AbortError' });
    waiter.over();
  };

  it('each say so, and not again at once', async () => {
    for (let round = 0; round < 3; round++)
      for (const partition of [1, 2]) await lastMoment(partition);
    expect(words).toEqual([
      'scores/1 waits until others are applied again: partition 7 (20 of 250)',
      'scores/2 waits until others are applied again: partition 7 (20 of 250)',
    ]);
    expect(progress).toHaveLength(6);
  });

  it('are known for as long as they wait', async () => {
    const one = assigned(1);
    const other = assigned(2);
    await one.waiter.moment();
    await other.waiter.moment();
    expect([...waits.current]).toEqual([1, 2]);
    one.waiter.over();
    expect([...waits.current]).toEqual([2]);
    other.waiter.over();
    expect(waits.current.size).toBe(0);
  });
});

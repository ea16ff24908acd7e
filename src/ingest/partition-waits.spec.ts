import { beforeEach, describe, expect, it } from '@jest/globals';
import type { HealTarget } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import type { WaitReason } from '../operations/waiting.js';
import { PartitionWaits } from './partition-waits.js';

const TARGETS: HealTarget[] = [{ shard: 0, partition: 7, applied: 20, target: 250 }];

describe('partitions that wait', () => {
  let words: string[];
  let progress: number[];
  let waits: PartitionWaits;
  beforeEach(() => {
    words = [];
    progress = [];
    const continuity = { healing: () => Promise.resolve(TARGETS) };
    waits = new PartitionWaits(continuity, { warn: (word) => words.push(word) });
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
  const lastMoment = async (partition: number, reason: WaitReason) => {
    const { waiter, ended } = assigned(partition);
    ended.abort();
    await expect(waiter.moment(reason)).rejects.toMatchObject({ name: 'AbortError' });
    waiter.over();
  };

  it('each say so for each reason, and the same not again at once', async () => {
    for (let round = 0; round < 3; round++)
      for (const partition of [1, 2])
        for (const reason of ['healing', 'watermarkMoved'] as const)
          await lastMoment(partition, reason);
    expect(words).toEqual([
      'scores/1 waits until others are applied again: partition 7 (20 of 250)',
      expect.stringMatching(/^scores\/1 waits: somebody has moved its watermark/),
      'scores/2 waits until others are applied again: partition 7 (20 of 250)',
      expect.stringMatching(/^scores\/2 waits: somebody has moved its watermark/),
    ]);
    expect(progress).toHaveLength(12);
  });

  it('are known for as long as they wait, with what they wait for last', async () => {
    const one = assigned(1);
    const other = assigned(2);
    await one.waiter.moment('healing');
    await other.waiter.moment('healing');
    await one.waiter.moment('watermarkMoved');
    expect(new Map(waits.current)).toEqual(
      new Map([
        [1, 'watermarkMoved'],
        [2, 'healing'],
      ]),
    );
    one.waiter.over();
    expect([...waits.current.keys()]).toEqual([2]);
    other.waiter.over();
    expect(waits.current.size).toBe(0);
  });
});

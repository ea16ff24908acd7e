import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecoveryTarget } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import { loggerTo } from '../../test/support/loggers.js';
import { PartitionWaits } from './partition-waits.js';

const TARGETS: RecoveryTarget[] = [{ shard: 0, partition: 7, applied: 20, target: 250 }];

describe('partitions that wait', () => {
  let logged: string[];
  let progress: number[];
  let waits: PartitionWaits;
  beforeEach(() => {
    logged = [];
    progress = [];
    const continuity = { recoveryTargets: () => Promise.resolve(TARGETS) };
    waits = new PartitionWaits(
      continuity,
      loggerTo((message) => logged.push(message)),
    );
  });

  const assigned = (partition: number) => {
    const ended = new AbortController();
    const assignment: PartitionAssignment = {
      ...{ topic: 'scores', partition, signal: ended.signal },
      stillOurs: () => Promise.resolve(true),
      restart: () => undefined,
      progress: () => progress.push(partition),
    };
    return { assignment, ended };
  };
  const waitUntilTaken = async (partition: number) => {
    const { assignment, ended } = assigned(partition);
    ended.abort();
    await expect(waits.wait(assignment, 0)).rejects.toMatchObject({ name: 'AbortError' });
    waits.done(assignment, 0);
  };

  it('log once each within a few seconds', async () => {
    for (let round = 0; round < 3; round++)
      for (const partition of [1, 2]) await waitUntilTaken(partition);
    expect(logged).toEqual([
      'scores/1 waits until other partitions have recovered: partition 7 (20 of 250)',
      'scores/2 waits until other partitions have recovered: partition 7 (20 of 250)',
    ]);
    expect(progress).toHaveLength(6);
  });

  it('are listed while they wait', async () => {
    const one = assigned(1).assignment;
    const other = assigned(2).assignment;
    await waits.wait(one, 0);
    await waits.wait(other, 0);
    expect([...waits.current.keys()]).toEqual([1, 2]);
    waits.done(one, 0);
    expect([...waits.current.keys()]).toEqual([2]);
    waits.done(other, 0);
    expect(waits.current.size).toBe(0);
  });
});

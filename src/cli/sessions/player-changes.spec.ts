import { describe, expect, it } from '@jest/globals';
import type { BanEntry } from '#board-store';
import { waitForEntries } from './player-changes.js';

describe('a wait for player records', () => {
  const sent = { board: 'arena', playerId: 'ada', partition: 1, offset: 7 };
  const entry: BanEntry = { playerId: 'ada', kind: 'banned', time: 0, partition: 1, offset: 7 };
  const wait = async (applied: readonly number[], found: BanEntry | null) => {
    const left = [...applied];
    const next = () => (left.length > 1 ? left.shift() : left[0]) ?? -1;
    const liveAppliedOffsets = () => Promise.resolve(new Map([[1, next()]]));
    const ban = () => Promise.resolve(found);
    const stores = { generations: { liveAppliedOffsets }, reader: { ban } };
    const [answer] = await waitForEntries(stores, [sent], 150);
    return answer?.counts;
  };

  it('ends when they are applied, and says whether they count', async () => {
    expect(await wait([6, 7], entry)).toBe(true);
    expect(await wait([9], { ...entry, offset: 8 })).toBe(false);
    expect(await wait([9], null)).toBe(false);
  });

  it('ends with the timeout, also if an entry is marked and not applied', async () => {
    expect(await wait([6], entry)).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import type { ReconciliationStatus } from '#board-store';
import { backfillOf } from './backfill.js';

const LOG = { ranges: new Map(), appliedOffsets: new Map() };
const ended = (facts: Partial<ReconciliationStatus>): ReconciliationStatus => ({
  board: 'arena',
  kind: 'build',
  state: 'done',
  generation: 'g',
  holder: 'host:1',
  done: 50_000,
  total: 50_000,
  rate: 0,
  secondsLeft: null,
  startedAt: 1_000,
  updatedAt: 6_000,
  ...facts,
});

describe('a backfill', () => {
  it('reads each partition from where its log begins, or the build does, up to what is live', () => {
    const ranges = new Map([0, 1, 2].map((partition) => [partition, { start: 10, end: 99 }]));
    const appliedOffsets = new Map([
      [0, 49],
      [1, 5],
      [2, 59],
    ]);
    const from = new Map([[2, 50]]);
    expect(backfillOf({ ranges, appliedOffsets, from }, []).records).toBe(40 + 0 + 10);
  });

  it('names the last build that read records and ended well', () => {
    const statuses = [
      ended({ total: 20_000, startedAt: 1_000, updatedAt: 3_000 }),
      ended({ total: 50_000, startedAt: 1_000, updatedAt: 6_000 }),
      ended({ state: 'failed', updatedAt: 7_000 }),
      ended({ total: 0, updatedAt: 9_000 }),
      ended({ kind: 'verify', updatedAt: 8_000 }),
    ];
    expect(backfillOf(LOG, statuses).lastBuild).toEqual({ records: 50_000, seconds: 5 });
    expect(backfillOf(LOG, []).lastBuild).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import { endsToReach } from './announce.js';
import type { KnownRecord, Period } from './periods.js';

const CLOSED = 1_000;
const ofNow = { ends: new Map([[0, 50]]), notedAt: 9_000 };

const periodWith = (record: Pick<KnownRecord, 'ends' | 'notedAt'> | undefined) => {
  const period: Partial<Period> = {
    finalAt: CLOSED,
    record: record && {
      board: 'arena',
      window: 'day:2026-03-01',
      revision: 0,
      view: null,
      ...record,
    },
  };
  return period as Period;
};

describe('the ends of the score topic that a window waits for', () => {
  it('are those in its record, however long the topic is now', () => {
    const noted = { ends: new Map([[0, 50], [1, 0]]), notedAt: CLOSED + 1 }; // prettier-ignore
    expect(endsToReach(periodWith(noted), ofNow)).toMatchObject(noted);
  });

  it.each([
    ['it has no record', undefined],
    ['it closes later than when they were noted', { ends: new Map([[0, 40]]), notedAt: CLOSED }],
    ['the topic was created again', { ends: new Map([[0, 51]]), notedAt: CLOSED + 1 }],
    [
      'the topic was created again with fewer partitions',
      { ends: new Map([[1, 1]]), notedAt: CLOSED + 1 },
    ],
  ])('are those of now if %s', (_, record) => {
    expect(endsToReach(periodWith(record), ofNow)).toBe(ofNow);
  });
});

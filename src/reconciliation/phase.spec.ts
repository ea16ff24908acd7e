import { describe, expect, it } from '@jest/globals';
import { phaseOf } from './phase.js';

describe('the phase of a run', () => {
  const records = { done: 90, total: 100, rate: 7 };
  const told = { ...records, unit: 'records' };

  it('is that of records, until players are put in order, and behind that: the log grows', () => {
    expect(phaseOf(records)).toEqual(told);
    expect(phaseOf({ ...records, ordering: { done: 1, total: 4, rate: 2 } })).toEqual({
      ...{ done: 1, total: 4, rate: 2 },
      unit: 'players in order',
    });
    expect(phaseOf({ ...records, ordering: { done: 4, total: 4, rate: 2 } })).toEqual(told);
  });
});

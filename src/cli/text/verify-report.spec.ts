import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile, stateBytes, type BoardDefinition } from '#board';
import type { Difference } from '#board-store';
import type { VerifyReport } from '../../reconciliation/verify/verify.js';
import { reportJson, reportText } from './verify-report.js';

const [ARENA] = parseBoardsFile(
  'boards:\n  arena: { columns: [{ name: points, decimals: 2 }, { name: time, order: asc }] }',
  'boards.yaml',
) as [BoardDefinition];
const TIME = 1_767_225_600_000;
const REACHED = '2026-01-01T00:00:00.000Z';

/** A state in hexadecimal. */
function hexOf(...columns: readonly [value: number, time: number][]): string {
  const state = columns.map(([value, time]) => ({ value, time, settled: true }));
  return stateBytes(state).toString('hex');
}

function report(differences: readonly Difference[], count = differences.length): VerifyReport {
  return {
    definition: ARENA,
    board: 'arena',
    generation: 'g1',
    places: 1_200,
    views: 3,
    differences,
    differenceCount: count,
    equal: count === 0,
    appliedOffsets: { 0: 41 },
  };
}

describe('the report of verify', () => {
  it('says that a board equals the log', () => {
    expect(reportText(report([]))).toBe(
      'arena: equal to the log; 1,200 place(s) in 3 view(s) compared, generation g1',
    );
  });

  it('says why a board cannot be compared, and what to do', () => {
    const tooManyViews = { expected: 1_200, found: 7 };
    const refused = { ...report([]), equal: null, tooManyViews };
    const reason =
      'maxViews refused 1,200 event(s) in the build for this verify, and 7 on the live board; which ones it refuses depends on the ' +
      'order in which the partitions are applied; raise maxViews in the boards file, run "ranklog boards apply", then verify again';
    expect(reportText(refused)).toBe(`arena: not comparable: ${reason}; generation g1`);
    expect(reportJson(refused)).toMatchObject({ equal: null, notComparable: reason });
    expect(reportJson(report([]))).not.toHaveProperty('notComparable');
  });

  it('shows players with decimals and times, and values that only one side has', () => {
    const differences: Difference[] = [
      {
        view: 'all',
        kind: 'columns',
        playerId: 'ada',
        expected: hexOf([-1250, TIME], [7, TIME - 1]),
        found: hexOf([-1300, TIME], [7, TIME - 1]),
      },
      { view: 'all', kind: 'extra', playerId: 'bob', found: hexOf([-1, TIME], [0, TIME]) },
    ];
    expect(reportJson(report(differences))).toMatchObject({
      equal: false,
      differenceCount: 2,
      appliedOffsets: { 0: 41 },
      differences: [
        {
          view: 'all',
          kind: 'columns',
          playerId: 'ada',
          expected: { columns: { points: '12.50', time: '7' }, reachedAt: REACHED },
          found: { columns: { points: '13.00', time: '7' }, reachedAt: REACHED },
        },
        { kind: 'extra', playerId: 'bob', expected: null },
      ],
    });
    expect(reportText(report(differences)).split('\n')).toEqual([
      'arena: 2 difference(s) to the log; 1,200 place(s) in 3 view(s) compared, generation g1',
      '',
      expect.stringMatching(/^view +difference +player +in the log +in Redis$/),
      expect.stringMatching(/^all +columns +ada +points 12\.50, time 7 at \S+ +points 13\.00, /),
      expect.stringMatching(/^all +extra player +bob +- +points 0\.01, time 0 at \S+$/),
    ]);
  });

  it('shows an invalid state as it is', () => {
    const damaged: Difference = { view: 'all', kind: 'columns', playerId: 'ada', found: '3132' };
    expect(reportJson(report([damaged])).differences).toMatchObject([{ found: { raw: '3132' } }]);
    const nonsense = Buffer.alloc(34, 'a').toString('hex');
    expect(reportText(report([{ ...damaged, found: nonsense }]))).toContain(
      `(invalid) ${nonsense}`,
    );
    const short: Difference = { ...damaged, found: hexOf([-1, TIME]) };
    expect(reportText(report([short]))).toContain(`(invalid) ${hexOf([-1, TIME])}`);
  });

  it('shows the times of views and clocks', () => {
    const differences: Difference[] = [
      { view: 'week:2026-W01', kind: 'view', expected: String(TIME), found: '' },
      { view: 'all', kind: 'view', expected: 'never', found: String(TIME) },
      { view: '', kind: 'clock', expected: String(TIME) },
      { view: '', kind: 'appliedOffset', expected: 'partition 0: at most 9', found: '12' },
    ];
    expect(reportJson(report(differences)).differences).toEqual([
      {
        view: 'week:2026-W01',
        kind: 'view',
        playerId: null,
        expected: { expiresAt: REACHED },
        found: null,
      },
      {
        view: 'all',
        kind: 'view',
        playerId: null,
        expected: { expiresAt: null },
        found: { expiresAt: REACHED },
      },
      { view: '', kind: 'clock', playerId: null, expected: { clock: REACHED }, found: null },
      {
        view: '',
        kind: 'appliedOffset',
        playerId: null,
        expected: { appliedOffset: 'partition 0: at most 9' },
        found: { appliedOffset: '12' },
      },
    ]);
    expect(reportText(report(differences))).toMatch(
      new RegExp(`^all +view +- +expires never +expires ${REACHED}$`, 'm'),
    );
  });

  it('says that it shows only some differences', () => {
    const one: Difference = { view: 'all', kind: 'missing', playerId: 'ada' };
    expect(reportText(report([one], 5_000))).toMatch(/1 of 5,000 differences shown$/);
  });
});

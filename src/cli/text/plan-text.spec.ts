import { describe, expect, it } from '@jest/globals';
import type { PlannedBoard } from '../../reconciliation/boards/plan.js';
import { planText } from './plan-text.js';

const DAY_MS = 86_400_000;
const same: PlannedBoard = {
  board: 'football',
  change: 'same',
  generation: 'g0',
  fields: [],
  liveBytes: null,
  startsAt: null,
  leftOut: null,
  closings: [],
  builtBy: null,
};
const changed: PlannedBoard = {
  ...same,
  board: 'arena',
  change: 'changed',
  generation: 'g1',
  fields: [
    { field: 'ties', before: 'earliest', after: 'latest' },
    { field: 'deduplicate', before: null, after: '1d' },
  ],
  liveBytes: 12 * 1_048_576,
};
const fresh: PlannedBoard = {
  ...same,
  board: 'trials',
  change: 'new',
  generation: null,
};
const backfill = { records: 1_234_567, lastBuild: { records: 50_000, seconds: 130 } };

describe('the text of a plan', () => {
  it('says that there is nothing to do, and lists boards that are not in the file', () => {
    const removed: PlannedBoard = { ...same, board: 'old', change: 'removed' };
    expect(
      planText({ boards: [same, removed], backfill: null, cut: [], bans: [] }, { graceMs: DAY_MS }),
    ).toBe(
      [
        '= football: unchanged',
        '- old: not in the file; kept unless you run "ranklog boards apply --remove old"',
        '',
        'nothing to do: the live boards match the file',
      ].join('\n'),
    );
  });

  it('lists windows that have ended and would close at another time, at most five', () => {
    const closing = (week: number) => ({
      window: `week:2026-W${week}`,
      before: null,
      after: '2026-11-23T00:10:00.000Z',
    });
    const text = (count: number) => {
      const closings = Array.from({ length: count }, (_, index) => closing(40 + index));
      const boards = [{ ...changed, closings }];
      return planText({ boards, backfill, cut: [], bans: [] }, { graceMs: DAY_MS });
    };
    expect(text(1)).toContain(
      '  ! closes 1 window(s) that have ended at another time, so their ranks may change, and results be announced: week:2026-W40: never -> 2026-11-23T00:10:00.000Z\n',
    );
    expect(text(5)).not.toContain('more');
    expect(text(7)).toContain('; and 2 more (--json lists all)');
  });

  it('lists boards to remove, even if there is nothing to build', () => {
    const options = { graceMs: DAY_MS, remove: ['trials', 'cup'] };
    const nothing = planText({ boards: [same], backfill: null, cut: [], bans: [] }, options);
    const some = planText({ boards: [fresh], backfill, cut: [], bans: [] }, options);
    expect(nothing).not.toContain('nothing to do');
    for (const text of [nothing, some])
      expect(text).toMatch(/\n\nto be removed permanently: trials, cup$/);
  });

  it('leaves a board to the process that builds it', () => {
    const builtBy = { holder: 'host:1', done: 5, total: 10, definition: 'same' } as const;
    const building: PlannedBoard = { ...fresh, change: 'building', builtBy };
    expect(
      planText({ boards: [building], backfill: null, cut: [], bans: [] }, { graceMs: DAY_MS }),
    ).toBe(
      '+ trials: new; host:1 builds it: 5 of 10 records\n\nnothing to do: other processes build trials',
    );
  });

  it('reports a build with another definition', () => {
    const builtBy = { holder: 'host:1', done: 5, total: 10, definition: 'other' } as const;
    const building: PlannedBoard = { ...fresh, change: 'building', builtBy };
    expect(
      planText({ boards: [building], backfill, cut: [], bans: [] }, { graceMs: DAY_MS }),
    ).toContain(
      '5 of 10 records, with another definition than the file; apply again once it is live',
    );
  });

  it('shows fields, records to read, the last build and the memory', () => {
    expect(
      planText(
        { boards: [changed, fresh, same], backfill, cut: [], bans: [] },
        { graceMs: DAY_MS },
      ),
    ).toBe(
      [
        '~ arena: changed; live generation g1',
        '    ties: earliest -> latest',
        '    deduplicate: (not set) -> 1d',
        '+ trials: new',
        '= football: unchanged',
        '',
        'building arena, trials: reads 1,234,567 record(s) of the log in one pass; the last build took 2 min for 50,000 record(s)',
        '',
        'memory in Redis:',
        '  arena: 12.0 MB in its live generation',
        'each of these generations is kept for 24 h beside the new one, for "ranklog boards rollback"',
      ].join('\n'),
    );
  });

  it('shows where a partial board starts', () => {
    const partial: PlannedBoard = { ...changed, startsAt: { 0: 150, 1: 0 } };
    expect(
      planText({ boards: [partial], backfill, cut: [], bans: [] }, { graceMs: DAY_MS }),
    ).toContain(
      '    starts where the live generation does: partial, from 0:150 1:0; "--from start" reads the whole log\n',
    );
  });

  it('omits the last build if there is none', () => {
    const first = { ...backfill, lastBuild: null };
    const text = planText(
      { boards: [fresh], backfill: first, cut: [], bans: [] },
      { graceMs: DAY_MS },
    );
    expect(text).toMatch(/of the log in one pass$/);
  });

  it('warns if only published results change', () => {
    const field = { field: 'publish.leaders', before: '0', after: '3' };
    const plan = { boards: [{ ...changed, fields: [field] }], backfill, cut: [], bans: [] };
    expect(planText(plan, { graceMs: DAY_MS })).toContain(
      '    publish.leaders: 0 -> 3\n  ! only published results change',
    );
  });

  it('warns that the log is cut', () => {
    const cut = [{ partition: 1, from: 0, logStart: 100 }];
    expect(planText({ boards: [fresh], backfill, cut, bans: [] }, { graceMs: DAY_MS })).toContain(
      '(it now begins in partition 1 at offset 100)',
    );
  });

  it('warns of players who are banned on other boards than a new one', () => {
    const bans = [
      { board: 'arena', count: 1_200 },
      { board: 'cup', count: 1 },
    ];
    const text = planText(
      { boards: [fresh, changed], backfill, cut: [], bans },
      { graceMs: DAY_MS },
    );
    expect(text).toContain(
      '! players are banned or erased: 1,200 on arena, 1 on cup, and not on trials; once it is live, ',
    );
    expect(text).toContain('until "ranklog players erase" is sent for NEW, too');
  });
});

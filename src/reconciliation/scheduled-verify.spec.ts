import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import {
  LeaseHeldError,
  type LiveBoard,
  type ReconciliationStatus,
  type Shadow,
} from '#board-store';
import { eventually } from '../../test/support/eventually.js';
import { loggerTo } from '../../test/support/loggers.js';
import { loadSettings } from '../config/settings.js';
import type { Metrics } from '../infra/metrics.js';
import type { Stores } from '../infra/stores.js';
import type { Reconciler } from './reconciler.js';
import type { BuildReport } from './runs/build.js';
import { CancelledError, HistoryCutError } from './runs/run-errors.js';
import { ScheduledVerify } from './scheduled-verify.js';
import type { VerifyReport } from './verify/verify.js';

const NOW = Date.parse('2026-11-20T04:00:00.000Z');

function definition(board: string): BoardDefinition {
  const [parsed] = parseBoardsFile(`boards: { ${board}: { columns: [{ name: points }] } }`, 'spec');
  if (parsed === undefined) throw new Error('there is no board');
  return parsed;
}
const live = (board: string): LiveBoard => ({
  board,
  generation: `g-${board}`,
  definition: definition(board),
});

function report(board: string, differenceCount = 0): VerifyReport {
  const differences = [{ view: 'all', kind: 'missing', playerId: 'ada' } as const];
  return {
    board,
    generation: `g-${board}`,
    definition: definition(board),
    places: 10,
    views: 2,
    differences: differenceCount === 0 ? [] : differences,
    differenceCount,
    equal: differenceCount === 0,
    appliedOffsets: {},
  };
}

describe('a turn of the schedule', () => {
  let boards: string[];
  let statuses: Partial<ReconciliationStatus>[];
  let left: Map<string, Shadow>;
  let verified: (readonly string[])[];
  let built: string[];
  let words: string[];
  let signal: AbortSignal | undefined;
  let gauges: Map<string, number>;
  let verify: (boards: readonly string[]) => readonly VerifyReport[];
  beforeEach(() => {
    boards = ['arena', 'chess', 'golf'];
    statuses = [];
    left = new Map();
    verified = [];
    built = [];
    words = [];
    signal = undefined;
    gauges = new Map();
    verify = (names) => names.map((board) => report(board));
  });

  const gauge = (name: string) => ({
    set: ({ board = '' }: Readonly<Record<string, string>>, value: number) =>
      void gauges.set(`${name} ${board}`, value),
    reset: () => {
      for (const key of gauges.keys()) if (key.startsWith(name)) gauges.delete(key);
    },
  });
  const scheduledVerify = (rebuilds: boolean, verifySchedule = '') => {
    const stores = {
      store: {
        boards: () =>
          Promise.resolve({ live: new Map(boards.map((board) => [board, live(board)])) }),
      },
      generations: { shadow: (board: string) => Promise.resolve(left.get(board)) },
      leases: { statuses: () => Promise.resolve(statuses as ReconciliationStatus[]) },
    } as unknown as Stores;
    const reconciler = {
      verify: async (names: readonly string[], options: { signal: AbortSignal }) => {
        verified.push(names);
        signal = options.signal;
        return [...(await Promise.resolve(verify(names)))];
      },
      build: (definitions: readonly BoardDefinition[]) => {
        built.push(...definitions.map(({ board }) => board));
        const reports = built.map((board) => ({ board, generation: 'g-new' }) as BuildReport);
        return Promise.resolve(reports);
      },
    } as unknown as Reconciler;
    const metrics = {
      gauges: {
        ranklog_verify_equal: gauge('equal'),
        ranklog_verify_differences: gauge('differences'),
        ranklog_verify_last_success_timestamp_seconds: {
          set: (value: number) => void gauges.set('success', value),
        },
      },
    } as unknown as Metrics;
    return new ScheduledVerify(stores, reconciler, metrics, {
      logger: loggerTo((message, level) => words.push(`${level}: ${message}`)),
      settings: { ...loadSettings({}).settings, verifyRebuild: rebuilds, verifySchedule },
    });
  };
  const run = (rebuilds = false, scheduled = scheduledVerify(rebuilds)) => {
    const { signal } = new AbortController();
    return scheduled.run({ signal, begun: NOW, sameTurnMs: 60_000 });
  };

  it('verifies all live boards in one pass, and logs the result', async () => {
    verify = (names) => names.map((board) => report(board, board === 'chess' ? 4 : 0));
    await run();
    expect(verified).toEqual([['arena', 'chess', 'golf']]);
    expect(words).toEqual([
      'info: board "arena" is what the log makes of it: 10 places in 2 views verified',
      'error: board "chess" has 4 difference(s) to the log in 10 places in 2 views',
      'info: board "golf" is what the log makes of it: 10 places in 2 views verified',
    ]);
    expect(Object.fromEntries(gauges)).toEqual({
      'equal arena': 1,
      'differences arena': 0,
      'equal chess': 0,
      'differences chess': 4,
      'equal golf': 1,
      'differences golf': 0,
      success: expect.closeTo(Date.now() / 1_000, -2),
    });
    expect(built).toEqual([]);
  });

  it('rebuilds boards that differ, if it is configured to', async () => {
    verify = (names) => names.map((board) => report(board, board === 'chess' ? 4 : 0));
    await run(true);
    expect(built).toEqual(['chess']);
    expect(words.at(-1)).toBe(
      'info: board "chess" was built again, and is live as generation g-new',
    );
  });

  it('reports no result for a board that can not be compared, and does not rebuild it', async () => {
    gauges.set('equal chess', 0).set('differences chess', 4);
    const tooManyViews = { expected: 3, found: 2 };
    verify = (names) =>
      names.map((board) =>
        board === 'chess' ? { ...report(board), equal: null, tooManyViews } : report(board),
      );
    await run(true);
    expect(built).toEqual([]);
    expect(words).toContainEqual(
      expect.stringMatching(/^warn: board "chess" can't be verified: .* raise maxViews/),
    );
    expect([...gauges.keys()].sort()).toEqual([
      'differences arena',
      'differences golf',
      'equal arena',
      'equal golf',
    ]);
  });

  it('does not rebuild a board whose live generation changed meanwhile', async () => {
    verify = () => [{ ...report('chess', 4), generation: 'g-older' }];
    await run(true);
    expect(built).toEqual([]);
  });

  it('skips a board on which another process works, without a warning, and reports no result for it', async () => {
    gauges.set('equal chess', 0).set('differences chess', 4);
    verify = (names) => {
      if (names.includes('chess')) throw new LeaseHeldError('chess', 'b:2', 9);
      return names.map((board) => report(board));
    };
    await run();
    expect(verified.at(-1)).toEqual(['arena', 'golf']);
    expect(words[0]).toBe('debug: board "chess" is not verified now: b:2 works on it');
    expect([...gauges.keys()]).not.toContain('equal chess');
    expect([...gauges.keys()]).not.toContain('success');
  });

  it('does nothing when other processes work on all boards', async () => {
    verify = ([board = '']) => {
      throw new LeaseHeldError(board, 'b:2', 9);
    };
    await run(true);
    expect(words.every((word) => word.startsWith('debug'))).toBe(true);
    expect(gauges.size + built.length).toBe(0);
  });

  it('reports no result for a board that was removed', async () => {
    const scheduled = scheduledVerify(false);
    await run(false, scheduled);
    expect([...gauges.keys()]).toContain('equal chess');
    boards = ['arena', 'golf'];
    await run(false, scheduled);
    expect([...gauges.keys()]).not.toContain('equal chess');
    expect([...gauges.keys()]).toContain('equal golf');
  });

  it('reports a board whose history is cut, and verifies the others', async () => {
    gauges.set('equal arena', 1);
    verify = (names) => {
      if (names.includes('arena')) throw new HistoryCutError(['arena'], [], true);
      return names.map((board) => report(board));
    };
    await run();
    expect(verified.at(-1)).toEqual(['chess', 'golf']);
    expect(words[0]).toMatch(
      /^error: board "arena" can't be verified: events of board "arena" are/,
    );
    expect([...gauges.keys()]).not.toContain('equal arena');
    expect([...gauges.keys()]).not.toContain('success');
  });

  it('leaves out all boards of a log that is cut while they are verified', async () => {
    verify = () => {
      throw new HistoryCutError(['arena', 'chess', 'golf'], [], true);
    };
    await run();
    expect(verified).toHaveLength(1);
    expect(words.map((word) => word.split(':')[1])).toEqual([
      ' board "arena" can\'t be verified',
      ' board "chess" can\'t be verified',
      ' board "golf" can\'t be verified',
    ]);
    expect(words[0]).toContain('events of board "arena", "chess", "golf" are gone');
  });

  it('leaves out a board with the shadow of a killed void, and says which command continues it', async () => {
    const { definition: plain } = live('arena');
    const voids = [{ partition: 0, offset: 1, timestamp: NOW }];
    left = new Map([
      ['arena', { ...live('arena'), definition: { ...plain, voids }, purpose: 'build' }],
    ]);
    await run();
    expect(verified).toEqual([['chess', 'golf']]);
    expect(words[0]).toContain('run "ranklog scores void" or "unvoid" again, or discard');
  });

  it('leaves out boards that another process has verified in the same turn', async () => {
    const started = (ms: number) => ({ startedAt: NOW - ms });
    statuses = [
      { board: 'arena', kind: 'verify', state: 'done', equal: false, ...started(59_000) },
      { board: 'chess', kind: 'verify', state: 'done', equal: true, ...started(61_000) },
      { board: 'golf', kind: 'verify', state: 'failed', ...started(1_000) },
    ];
    await run();
    expect(verified).toEqual([['chess', 'golf']]);
    expect([...gauges.keys()]).toContain('success');
  });

  it('leaves out a board with the shadow of a killed build, with a warning', async () => {
    const shadow = (board: string, purpose: Shadow['purpose']) => ({ ...live(board), purpose });
    left = new Map([
      ['arena', shadow('arena', 'build')],
      ['chess', shadow('chess', 'verify')],
      ['golf', shadow('golf', 'build')],
    ]);
    statuses = [{ board: 'golf', kind: 'build', state: 'running', startedAt: NOW }];
    await run();
    expect(verified).toEqual([['chess', 'golf']]);
    expect(words[0]).toBe(
      'warn: board "arena" is not verified: that would discard what a killed build has built (generation g-arena); ' +
        'run the build again, or discard that generation with "ranklog boards discard g-arena"',
    );
    expect([...gauges.keys()]).not.toContain('success');
  });

  it('verifies a board with a killed build of the live definition, if the schedule rebuilds: that build may be its own', async () => {
    const changed = { ...definition('chess'), maxViews: 7 };
    left = new Map<string, Shadow>([
      ['arena', { ...live('arena'), purpose: 'build' }],
      ['chess', { ...live('chess'), purpose: 'build', definition: changed }],
      ['golf', { ...live('golf'), purpose: 'snapshot' }],
    ]);
    await run(true);
    expect(verified).toEqual([['arena']]);
  });

  it.each([{ state: 'running' as const }, { state: 'done' as const, equal: null }])(
    'is no success if the verify of another process has no result for a board: %o',
    async (status) => {
      statuses = [{ board: 'arena', kind: 'verify', startedAt: NOW - 1_000, ...status }];
      await run();
      expect(verified).toEqual([['chess', 'golf']]);
      expect([...gauges.keys()]).not.toContain('success');
    },
  );

  it('ends without a message when it is cancelled, and throws other errors of the reconciler', async () => {
    verify = () => {
      throw new CancelledError(false);
    };
    await run();
    expect(words).toEqual([]);
    verify = () => {
      throw new Error('Kafka is gone');
    };
    await expect(run()).rejects.toThrow('Kafka is gone');
  });

  it('aborts a verify in the first step of a shutdown, as Nest may begin the next one late', async () => {
    const scheduled = scheduledVerify(false, '* * * * * *');
    scheduled.onApplicationBootstrap();
    await eventually(() => signal !== undefined, 'a turn has begun', 60);
    expect(signal?.aborted).toBe(false);
    scheduled.onModuleDestroy();
    expect(signal?.aborted).toBe(true);
    await scheduled.beforeApplicationShutdown();
  });
});

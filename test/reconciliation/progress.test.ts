import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReconciliationStatus } from '#board-store';
import type { Counts } from '../../src/generations/progress-meter.js';
import type { RunProgress } from '../../src/generations/run-progress.js';
import { TestInstance, until } from '../support/instance.js';
import {
  closeScene,
  definitionsOf,
  type Sandbox,
  openScene,
  published,
  type Traffic,
} from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
`;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const PLAYERS = 3_000;
/** Each in both views. */
const PLACES = 2 * PLAYERS;
/** Records, and players that are put in order, a second. */
const THROTTLE = 2_000;

const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial).toISOString(),
});

/** Whether none is smaller than the one before. */
const onlyGrows = (counts: readonly number[]) =>
  counts.every((count, index) => index === 0 || count >= (counts[index - 1] ?? 0));

/** All are done at the end. The last call of a build brings some events, whose players are in order by that. */
function expectNear(orderings: readonly Counts[], players: number): void {
  const last = orderings.at(-1);
  expect(last?.done).toBe(last?.total);
  for (const { total } of orderings) {
    expect(total).toBeLessThanOrEqual(players);
    expect(total).toBeGreaterThan(0.9 * players);
  }
  expect(orderings.length).toBeGreaterThan(0);
}

describe('a throttled run over many players', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event));
    await instance.start();
    await traffic.send(PLAYERS);
    await published(instance, traffic);
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

  interface BuildOptions {
    readonly signal?: AbortSignal;
    readonly eventsPerSecond?: number;
    readonly onTold?: (progress: RunProgress) => void;
  }
  const build = ({
    signal = AbortSignal.timeout(240_000),
    eventsPerSecond = THROTTLE,
    onTold,
  }: BuildOptions = {}) => {
    const told: RunProgress[] = [];
    const options = { signal, eventsPerSecond, keepsShadows: true };
    const onProgress = (progress: RunProgress) => {
      told.push(progress);
      onTold?.(progress);
    };
    const done = sandbox.reconciler.build(definitionsOf(BOARDS), { ...options, onProgress });
    return { done, told };
  };

  it('tells how many of them are in order, and never that no time is left before all are', async () => {
    const statuses: ReconciliationStatus[] = [];
    const { done, told } = build();
    let isOver = false;
    void done.finally(() => (isOver = true));
    await until(async () => {
      statuses.push(...(await sandbox.leases.statuses()));
      return isOver;
    }, 'the build has ended');
    await done;
    const orderings = told.flatMap(({ ordering }) => ordering ?? []);
    expect(onlyGrows(orderings.map((ordering) => ordering.done))).toBe(true);
    expect(new Set(orderings.map(({ done }) => done)).size).toBeGreaterThan(3);
    expectNear(orderings, PLACES);
    const isUnderWay = ({ ordering }: RunProgress) =>
      ordering === undefined || ordering.done < ordering.total;
    expect(told.filter(isUnderWay).map(({ secondsLeft }) => secondsLeft)).not.toContain(0);
    const kept = statuses
      .filter(({ state }) => state === 'running')
      .flatMap(({ ordering }) => ordering ?? []);
    expect(kept.some((ordering) => ordering.done > 0 && ordering.done < ordering.total)).toBe(true);
    expect(statuses.at(-1)).toMatchObject({
      ordering: { ...orderings.at(-1), rate: 0 },
      secondsLeft: null,
    });
  });

  it('that verifies them compares them at that rate', async () => {
    const signal = AbortSignal.timeout(240_000);
    const rate = 2 * THROTTLE;
    const told: (number | undefined)[] = [];
    const onProgress = ({ compared }: RunProgress) => told.push(compared);
    const options = { signal, eventsPerSecond: rate, onProgress };
    const begun = performance.now();
    const [report] = await sandbox.reconciler.verify(['arena'], options);
    const seconds = (performance.now() - begun) / 1_000;
    expect(report).toMatchObject({ equal: true, places: PLACES });
    expect(told.at(-1)).toBe(PLACES); // the progress and the report tell one count
    // Each is looked at in what the log makes, in what is live, and in the order; a second may have been saved up.
    expect(seconds).toBeGreaterThan((3 * PLACES) / rate - 1);
  });

  it('is shown by status with the players that are in order, and the time that is left', async () => {
    const stop = new AbortController();
    const { done } = build({ signal: stop.signal, eventsPerSecond: THROTTLE / 4 });
    let text = '';
    await until(async () => {
      text = await instance.run('status');
      return /arena .*players in order, .*\/s, about /.test(text);
    }, 'status tells of players');
    stop.abort();
    await expect(done).rejects.toThrow('stopped');
    expect(text).toMatch(
      /arena +build +\d+ % of [\d,]+ players in order, \d+\/s, about \d+ s left /,
    );
  });

  it('that was stopped while they are put in order tells of those that are left', async () => {
    const stop = new AbortController();
    const first = build({
      signal: stop.signal,
      eventsPerSecond: THROTTLE / 2,
      onTold: ({ ordering }) => {
        if ((ordering?.done ?? 0) > PLAYERS) stop.abort(); // one of two views is in order
      },
    });
    await expect(first.done).rejects.toThrow('stopped');
    const second = build();
    await second.done;
    expectNear(
      second.told.flatMap(({ ordering }) => ordering ?? []),
      PLAYERS,
    );
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReconciliationStatus } from '#board-store';
import type { RunProgress } from '../../src/generations/progress.js';
import { until } from '../support/instance.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
`;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const PLAYERS = 3_000;
/** Each player is in both views. */
const PLACES = 2 * PLAYERS;
/** Records per second. */
const THROTTLE = 1_000;

const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial).toISOString(),
});

const onlyGrows = (counts: readonly number[]) =>
  counts.every((count, index) => index === 0 || count >= (counts[index - 1] ?? 0));

describe('a throttled run', () => {
  let scene: Scene;
  let sandbox: Sandbox;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { sent: PLAYERS });
    ({ sandbox } = scene);
  });
  afterAll(() => scene.close());

  it('reports the records that a build has applied, and no end before all are', async () => {
    const statuses: ReconciliationStatus[] = [];
    const reports: RunProgress[] = [];
    const onProgress = (progress: RunProgress) => reports.push(progress);
    const options = { ...RUN, eventsPerSecond: THROTTLE, onProgress };
    let isOver = false;
    const build = sandbox.reconciler
      .build(definitionsOf(BOARDS), options)
      .finally(() => (isOver = true));
    await until(async () => {
      statuses.push(...(await sandbox.leases.statuses()));
      return isOver;
    }, 'the build has ended');
    await build;
    expect(onlyGrows(reports.map(({ done }) => done))).toBe(true);
    expect(new Set(reports.map(({ done }) => done)).size).toBeGreaterThan(3);
    expect(reports.at(-1)?.done).toBe(reports.at(-1)?.total);
    for (const { done, total, secondsLeft } of reports)
      if (done < total) expect(secondsLeft).not.toBe(0);
    const running = statuses.filter(({ state }) => state === 'running');
    expect(running.some(({ done, total }) => done > 0 && done < total)).toBe(true);
    expect(statuses.at(-1)).toMatchObject({ state: 'done', rate: 0, secondsLeft: null });
  });

  it('compares players at that rate in a verify', async () => {
    const rate = 4 * THROTTLE;
    const reports: (number | undefined)[] = [];
    const onProgress = ({ compared }: RunProgress) => reports.push(compared);
    const begun = performance.now();
    const options = { ...RUN, eventsPerSecond: rate, onProgress };
    const [report] = await sandbox.reconciler.verify(['arena'], options);
    const seconds = (performance.now() - begun) / 1_000;
    expect(report).toMatchObject({ equal: true, places: PLACES });
    expect(reports.at(-1)).toBe(PLACES);
    // Each place counts three times: in the shadow, in the live generation, and in its ranking. The throttle may save up a second.
    expect(seconds).toBeGreaterThan((3 * PLACES) / rate - 1);
  });
});

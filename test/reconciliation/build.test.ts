import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReconciliationStatus } from '#board-store';
import type { RankChange } from '#contracts';
import type { RunProgress } from '../../src/reconciliation/runs/progress.js';
import { CancelledError } from '../../src/reconciliation/runs/run-errors.js';
import { until } from '../support/instance.js';
import { brokenChains, causeOf } from '../support/results.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
  cup:
    columns: [{ name: points, update: best }]
`;
const CHANGED = BOARDS.replace('update: best', 'update: best, order: asc').replace(
  'windows: [all, day]',
  'windows: [all, week]',
);
const BASE = Date.parse('2026-03-01T00:00:00Z');

const event = (serial: number) => ({
  board: serial % 3 === 0 ? 'cup' : 'arena',
  playerId: `player-${(serial * 7_919) % 500}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial * 1_000).toISOString(),
  attributes: { region: serial % 2 === 0 ? 'eu' : 'us' },
});

describe('a build during live traffic', () => {
  let scene: Scene;
  let sandbox: Sandbox;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { sent: 3_000 });
    ({ sandbox } = scene);
  });
  afterAll(() => scene.close());

  const build = (yaml: string, options = {}) =>
    sandbox.reconciler.build(definitionsOf(yaml), { ...RUN, ...options });
  const moreEvents = async () => {
    const { sent } = scene.traffic;
    await until(() => scene.traffic.sent > sent + 500, 'more events came');
  };
  const generationsOf = (changes: readonly RankChange[]) =>
    new Set(changes.map(({ generation }) => generation));

  it('that is throttled reports the records that it has applied, and reports no end before all are applied', async () => {
    const statuses: ReconciliationStatus[] = [];
    const reports: RunProgress[] = [];
    const onProgress = (progress: RunProgress) => reports.push(progress);
    let isOver = false;
    const building = build(BOARDS, { eventsPerSecond: 1_000, onProgress }).finally(
      () => (isOver = true),
    );
    await until(async () => {
      statuses.push(...(await sandbox.leases.statuses()));
      return isOver;
    }, 'the build has ended');
    await building;
    const counts = reports.map(({ done }) => done);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(new Set(counts).size).toBeGreaterThan(3);
    expect(reports.at(-1)?.done).toBe(reports.at(-1)?.total);
    for (const { done, total, secondsLeft } of reports)
      if (done < total) expect(secondsLeft).not.toBe(0);
    const running = statuses.filter(({ state }) => state === 'running');
    expect(running.some(({ done, total }) => done > 0 && done < total)).toBe(true);
    for (const status of await sandbox.leases.statuses())
      expect(status).toMatchObject({ state: 'done', rate: 0, secondsLeft: null });
  });

  it('is followed by a verify, which compares players no faster than its throttle allows', async () => {
    const eventsPerSecond = 1_000;
    const reports: (number | undefined)[] = [];
    const onProgress = ({ places }: RunProgress) => reports.push(places?.count);
    const begun = performance.now();
    const options = { ...RUN, eventsPerSecond, onProgress };
    const [report] = await sandbox.reconciler.verify(['arena'], options);
    const seconds = (performance.now() - begun) / 1_000;
    expect(report).toMatchObject({ equal: true });
    const places = report?.places ?? 0;
    expect(reports.at(-1)).toBe(places);
    // Each place counts three times: in the shadow, in the live generation, and in its ranking. The
    // throttle lets the places of one second pass at once.
    expect(places).toBeGreaterThan(1_500);
    expect(seconds).toBeGreaterThan((3 * places) / eventsPerSecond - 1);
  });

  it('of the same definitions keeps every chain of rank changes; with changed definitions, no event lacks its rank change', async () => {
    const earlier = generationsOf(await scene.rankChanges());
    const { live } = await sandbox.store.boards();
    scene.traffic.start(20, 10);
    await moreEvents();
    const reports = await build(BOARDS);
    expect(reports.map(({ board }) => board).sort()).toEqual(['arena', 'cup']);
    expect(reports.find(({ board }) => board === 'arena')?.previous).toBe(
      live.get('arena')?.generation,
    );
    await moreEvents();
    const rebuilt = await build(CHANGED);
    await moreEvents();
    const changes = await scene.expectExact(CHANGED);
    const changed = new Set(rebuilt.map(({ generation }) => generation));
    const unchanged = changes.filter(({ generation }) => !changed.has(generation));
    const later = [...live.values(), ...reports, ...rebuilt].map(({ generation }) => generation);
    expect(generationsOf(changes)).toEqual(new Set([...earlier, ...later]));
    expect(brokenChains(unchanged)).toEqual([]);
    expect(brokenChainsOfGenerations(changes)).toEqual([]);
    // With either definition, each event of "arena" whose delta is not 0 changes a state.
    const causes = changes.filter(({ board }) => board === 'arena').map(causeOf);
    const expected = Array.from({ length: scene.traffic.sent }, (_, serial) => event(serial));
    const moving = expected.filter(({ board, delta }) => board === 'arena' && delta !== 0);
    expect(causes.length).toBeGreaterThanOrEqual(moving.length);
  });

  it('that skips live boards changes neither a live board nor its status', async () => {
    const before = await sandbox.live('arena');
    const statuses = await sandbox.leases.statuses();
    expect(await build(CHANGED, { skipsLive: true })).toEqual([]);
    expect(await sandbox.live('arena')).toEqual(before);
    expect(await sandbox.leases.statuses()).toEqual(statuses);
    expect(await sandbox.redis.keys(`${scene.instance.name}:*lease:*`)).toEqual([]);
  });

  it('continues a killed build of the board; a verify or rollback of the board discards its shadow with a warning', async () => {
    const arena = definitionsOf(CHANGED).slice(0, 1);
    const leave = async () => {
      const lease = await sandbox.leases.acquire('arena', 'killed');
      const plan = { definition: arena[0]!, purpose: 'build' } as const;
      const shadow = await sandbox.generations.begin(lease, plan);
      await sandbox.leases.release(lease);
      return shadow.generation;
    };
    const discards = (run: string, generation: string) =>
      `board "arena": this ${run} discards what a killed build had built (generation ${generation})`;

    const left = await leave();
    const reports = await sandbox.reconciler.build(arena, RUN);
    expect(reports).toMatchObject([{ generation: left }]);
    expect(sandbox.words).not.toContainEqual(expect.stringContaining('discards'));

    const forVerify = await leave();
    expect(await sandbox.reconciler.verify(['arena'], RUN)).toMatchObject([{ equal: true }]);
    expect(sandbox.words).toContain(discards('verify', forVerify));

    const forRollback = await leave();
    await sandbox.reconciler.rollback('arena', RUN);
    expect(sandbox.words).toContain(discards('rollback', forRollback));
  });

  /** The generations of which Redis has a key or a definition. */
  const generationsInKeys = async () => {
    await sandbox.sweep();
    const keys = await sandbox.redis.keys(`${scene.instance.name}:*`);
    const definitions = await sandbox.redis.hkeys(sandbox.keys.definitions(0));
    const ids = [...keys, ...definitions].flatMap((key) => /\d{16}-[0-9a-f]{12}/.exec(key) ?? []);
    return [...new Set(ids)].sort();
  };

  it('that is cancelled changes nothing: a new board is unknown again, and a removed one still counts as removed', async () => {
    await sandbox.reconciler.remove('cup', RUN);
    const before = await sandbox.live('arena');
    const generations = await generationsInKeys();
    const cancelling = new AbortController();
    const withNew = `${BOARDS}  trials:\n    columns: [{ name: points }]\n`;
    const building = build(withNew, { signal: cancelling.signal, eventsPerSecond: 500 });
    await until(async () => {
      const statuses = await sandbox.leases.statuses();
      return statuses.some(({ state, done }) => state === 'running' && done > 300);
    }, 'the build is under way');
    expect([...(await sandbox.store.boards()).building].sort()).toEqual(['cup', 'trials']);
    cancelling.abort();
    await expect(building).rejects.toBeInstanceOf(CancelledError);
    expect((await sandbox.live('arena')).generation).toBe(before.generation);
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
    expect((await sandbox.leases.statuses()).map(({ state }) => state)).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
    ]);
    const { live, building: waiting, removed } = await sandbox.store.boards();
    expect([[...live.keys()], [...waiting], [...removed]]).toEqual([['arena'], [], ['cup']]);
    expect((await sandbox.store.promotions()).has('trials')).toBe(false);
    expect(await generationsInKeys()).toEqual(generations);
  });
});

/**
 * As brokenChains, but the first change of a player in a later generation may begin with any
 * columns.
 */
function brokenChainsOfGenerations(changes: readonly RankChange[]): string[] {
  const first = changes[0]?.generation;
  const last = new Map<string, string>();
  const broken: string[] = [];
  for (const { generation, playerId, changes: moves } of changes)
    for (const { view, before, after } of moves) {
      const chain = `${generation}/${playerId}/${view}`;
      const found = JSON.stringify(before?.columns ?? null);
      const expected = last.get(chain) ?? (generation === first ? 'null' : found);
      if (found !== expected) broken.push(`${chain}: ${expected} then ${found}`);
      last.set(chain, JSON.stringify(after?.columns ?? null));
    }
  return broken;
}

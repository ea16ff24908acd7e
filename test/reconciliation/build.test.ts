import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RankChange } from '#contracts';
import { CancelledError } from '../../src/generations/errors.js';
import { TestInstance, until } from '../support/instance.js';
import { brokenChains, causeOf, readRankChanges } from '../support/results.js';
import {
  closeScene,
  definitionsOf,
  type Sandbox,
  openScene,
  published,
  type Traffic,
  UNTIL_DONE,
} from './sandbox.js';

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

describe('a build beside live traffic', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event));
    await instance.start();
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

  const build = (yaml: string, options = {}) =>
    sandbox.reconciler.build(definitionsOf(yaml), {
      signal: AbortSignal.timeout(240_000),
      ...options,
    });
  /** After all is published: one result for each cause, and no board other than by the log. */
  const check = async (yaml: string) => {
    await traffic.stop();
    await published(instance, traffic);
    const wrong = await Promise.all(definitionsOf(yaml).map((board) => sandbox.wrongViews(board)));
    expect(wrong.flat()).toEqual([]);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(new Set(changes.map(causeOf)).size).toBe(changes.length);
    return changes;
  };

  it('of the same definitions keeps every chain of rank changes', async () => {
    await traffic.send(3_000);
    await published(instance, traffic); // so that there are results of the generations before the build
    traffic.start(20, 10);
    const before = await sandbox.live('arena');
    const reports = await build(BOARDS);
    expect(reports.map(({ board }) => board).sort()).toEqual(['arena', 'cup']);
    expect(reports.find(({ board }) => board === 'arena')?.previous).toBe(before.generation);
    const after = traffic.sent;
    await until(() => traffic.sent > after + 500, 'events came after the promotion');
    const changes = await check(BOARDS);
    expect(new Set(changes.map(({ generation }) => generation)).size).toBe(4);
    expect(brokenChains(changes)).toEqual([]);
  });

  it('of changed definitions gives each event one rank change, by the definition that is live then', async () => {
    await traffic.send(3_000);
    traffic.start(20, 10);
    await build(CHANGED);
    const after = traffic.sent;
    await until(() => traffic.sent > after + 500, 'events came after the promotion');
    const changes = await check(CHANGED);
    expect(brokenChainsOfGenerations(changes)).toEqual([]);
    // What every event of "arena" brings about: with either definition, each moves a state.
    const causes = changes.filter(({ board }) => board === 'arena').map(causeOf);
    const expected = Array.from({ length: traffic.sent }, (_, serial) => event(serial)).filter(
      ({ board, delta }) => board === 'arena' && delta !== 0,
    );
    expect(causes.length).toBeGreaterThanOrEqual(expected.length);
  });

  it('that is the first of a board leaves it alone if another process has made it live', async () => {
    await traffic.send(50);
    await published(instance, traffic);
    await build(BOARDS);
    const before = await sandbox.live('arena');
    const statuses = await sandbox.leases.statuses();
    expect(await build(CHANGED, { isFirst: true })).toEqual([]);
    expect(await sandbox.live('arena')).toEqual(before);
    expect(await sandbox.leases.statuses()).toEqual(statuses);
    expect(await instance.redis.keys(`${instance.name}:*lease:*`)).toEqual([]);
  });

  it('continues what a killed build has built; another run of the board discards that with a warning', async () => {
    await traffic.send(50);
    await published(instance, traffic);
    const [arena] = definitionsOf(BOARDS);
    if (arena === undefined) throw new Error('there is no board');
    const leave = async () => {
      const lease = await sandbox.leases.acquire('arena', 'killed');
      const shadow = await sandbox.generations.begin(lease, {
        definition: arena,
        purpose: 'build',
      });
      await sandbox.leases.release(lease);
      return shadow.generation;
    };
    const discards = (run: string, generation: string) =>
      `board "arena": this ${run} discards what a killed build had built (generation ${generation})`;
    const signal = AbortSignal.timeout(240_000);

    const left = await leave();
    const reports = await sandbox.reconciler.build([arena], { signal });
    expect(reports).toMatchObject([{ generation: left }]);
    expect(sandbox.words).not.toContainEqual(expect.stringContaining('discards'));

    const forVerify = await leave();
    expect(await sandbox.reconciler.verify(['arena'], { signal })).toMatchObject([{ equal: true }]);
    expect(sandbox.words).toContain(discards('verify', forVerify));

    const forRollback = await leave();
    await sandbox.reconciler.rollback('arena', { signal });
    expect(sandbox.words).toContain(discards('rollback', forRollback));
  });

  it('that is cancelled changes nothing: a new board is unknown again, a removed one removed', async () => {
    await traffic.send(3_000);
    await published(instance, traffic);
    await sandbox.reconciler.remove('cup', { signal: UNTIL_DONE });
    const before = await sandbox.live('arena');
    const cancelling = new AbortController();
    const withNew = `${BOARDS}  trials:\n    columns: [{ name: points }]\n`;
    const building = build(withNew, { signal: cancelling.signal, eventsPerSecond: 500 });
    await until(
      async () => (await sandbox.leases.statuses()).some(({ done }) => done > 300),
      'the build is on its way',
    );
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
    await sandbox.sweep();
    const { live, building: waiting, removed } = await sandbox.store.boards();
    expect([[...live.keys()], [...waiting], [...removed]]).toEqual([['arena'], [], ['cup']]);
    expect((await sandbox.store.promotions()).has('trials')).toBe(false);
    const generations = [...live.values()].map(({ generation }) => generation);
    const keys = (await instance.redis.keys(`${instance.name}:*`)).filter((key) =>
      /\d{16}-/.test(key),
    );
    expect(keys.filter((key) => !generations.some((id) => key.includes(id)))).toEqual([]);
    const definitions = await instance.redis.hkeys(sandbox.keys.definitions(0));
    expect(definitions.sort()).toEqual(generations.sort());
  });
});

/** As brokenChains, where a generation that came later begins with what it was built of. */
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

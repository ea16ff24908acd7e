import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PERIODS_LEASE } from '../../src/reconciliation/periods/period-services.js';
import {
  CLOSES_AT,
  DAY,
  event,
  PeriodScene,
  START,
  WINDOW,
} from '../reconciliation/period-scene.js';
import { eventually } from '../support/eventually.js';

const EVENTS = [event('ada', 5), event('bob', 9, 'us')];
const EU = `${WINDOW} region=eu`;
const US = `${WINDOW} region=us`;
const inRevision = (revision: number) =>
  [WINDOW, EU, US].map((view) => `${view} ${revision}`).sort();
const time = (ms: number) => new Date(ms).toISOString();

describe('ranklog periods', () => {
  let scene: PeriodScene;
  beforeAll(async () => {
    scene = await PeriodScene.open(EVENTS);
  });
  afterAll(() => scene.close());
  const announce = (...args: string[]) => scene.scene.ranklog('periods', 'announce', ...args);
  const list = (...args: string[]) => scene.scene.json<object[]>('periods', 'list', ...args);

  it('lists a window through its manual review, ends the review, and announces it again', async () => {
    await scene.begin({ reviewMs: 'manual' });
    const listed = {
      board: 'arena',
      window: WINDOW,
      start: time(START),
      end: time(START + DAY),
      closesAt: time(CLOSES_AT),
      reviewEndsAt: null,
    };
    expect(await list()).toEqual([
      {
        ...listed,
        state: 'review',
        revision: 0,
        waitsFor: `"ranklog periods announce arena ${WINDOW}"`,
      },
    ]);
    expect(await announce('arena', WINDOW, '--again')).toMatchObject({
      code: 1,
      err: expect.stringContaining('leave out --again'),
    });
    expect(await announce('arena', WINDOW)).toMatchObject({
      code: 0,
      out: `arena: announced ${WINDOW}, revision 1, 3 views\n`,
    });
    expect(await list('arena')).toEqual([
      { ...listed, state: 'announced', revision: 1, waitsFor: null },
    ]);
    expect(await announce('arena', WINDOW)).toMatchObject({
      code: 1,
      err: expect.stringContaining('was announced before, in revision 1; --again'),
    });
    await scene.turn();
    expect(await scene.announced()).toEqual(inRevision(1));
    const answer = await scene.scene.json('periods', 'announce', 'arena', WINDOW, '--again');
    expect(answer).toEqual({ board: 'arena', window: WINDOW, revision: 2, views: 3 });
    await scene.turn();
    expect(await scene.announced()).toEqual([...inRevision(1), ...inRevision(2)].sort());
    expect((await scene.scene.ranklog('periods', 'list')).out).toBe(
      `board  window          state                  closes                    waits for\narena  ${WINDOW}  announced, revision 2  ${time(CLOSES_AT)}\n`,
    );
  });

  it('refuses what cannot be announced, and says why', async () => {
    await scene.begin({ reviewMs: 'manual' });
    const { redis, keys, leases } = scene.sandbox;
    const today = `day:${new Date().toISOString().slice(0, 10)}`;
    const cases = [
      ['cup', WINDOW, 1, 'there is no board "cup"'],
      ['arena', 'week:2026-W47', 2, 'board "arena" has no window week:2026-W47'],
      ['arena', 'day:2020-01-01', 1, 'never closes'],
      ['arena', today, 1, 'no event counts in it'],
    ] as const;
    for (const [board, window, code, words] of cases)
      expect(await announce(board, window)).toMatchObject({
        code,
        out: '',
        err: expect.stringContaining(words),
      });

    const lease = await leases.acquire(PERIODS_LEASE, 'somebody else');
    const held = await announce('arena', WINDOW);
    expect(held).toMatchObject({ code: 3, err: expect.stringContaining('somebody else is') });
    await leases.release(lease);

    const continuity = (await redis.get(keys.continuity(0))) ?? '';
    await redis.del(keys.continuity(0));
    const stale = await announce('arena', WINDOW);
    expect(stale).toMatchObject({ code: 5, err: expect.stringContaining('are stale') });
    await redis.set(keys.continuity(0), continuity);
    expect(await scene.announced()).toEqual([]);
  });

  it('says until when a window takes records, and for what a closed one waits', async () => {
    const graceMs = Date.now() + DAY - CLOSES_AT;
    await scene.begin({ graceMs });
    const closesAt = time(START + DAY + graceMs);
    expect(await list()).toMatchObject([{ state: 'open', closesAt, waitsFor: null }]);
    const open = await announce('arena', WINDOW);
    const until = `takes records until ${closesAt}`;
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining(until) });

    await scene.build(scene.definitionWith({ graceMs: Date.now() - START - DAY - 10_000 }));
    const [margin] = await list();
    expect(margin).toMatchObject({
      state: 'waiting',
      waitsFor: expect.stringContaining('the clocks of the brokers, until '),
    });
    expect(await announce('arena', WINDOW)).toMatchObject({ code: 3 });

    await scene.build(scene.definitionWith());
    await scene.send([event('eve', 1)]);
    // The record came after the window had closed, so its place in the log is not waited for.
    expect(await list()).toMatchObject([{ state: 'waiting', waitsFor: 'the role reconciliation' }]);
    const position = expect.stringMatching(
      /score-events\/\d is published up to offset \d+, not \d+/,
    );
    expect(await announce('arena', WINDOW)).toMatchObject({ code: 3, err: position });
    expect(await scene.announced()).toEqual([]);
  });

  it('announces views whose players are all banned, and announces them again', async () => {
    await scene.begin({ reviewMs: 'manual' });
    const ingest = await scene.instance.start('--roles', 'ingest');
    for (const player of ['ada', 'bob'])
      expect(
        await scene.scene.ranklog('players', 'ban', 'arena', player, '--timeout', '60'),
      ).toMatchObject({ code: 0 });
    expect(await list()).toMatchObject([{ window: WINDOW, state: 'review' }]);
    await eventually(
      async () => (await announce('arena', WINDOW)).code === 0,
      'the bans are published, and the window is announced',
    );
    expect(await announce('arena', WINDOW, '--again')).toMatchObject({ code: 0 });
    expect(await scene.announced()).toEqual([...inRevision(1), ...inRevision(2)].sort());
    for (const result of await scene.results())
      expect(result).toMatchObject({ size: 0, results: [] });
    ingest.kill('SIGKILL');
    await ingest.ended;
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BoardReader } from '#board-store';
import { HttpBoardReader, HttpReadError, type ViewReads } from '#http';
import { arena, lasting, scored, StoreFixture } from '../../board-store/fixture.js';
import { openTestRedis } from '../../board-store/test-redis.js';
import { openApp, type TestApp } from './app.js';

const { redis, newKeys, close } = openTestRedis();
const AT = Date.parse('2026-11-20T09:00:00Z');
const REGION = { where: { region: 'eu/west & more' } };
const VIEWS = ['all', 'week:2026-W47', `all region=${encodeURIComponent(REGION.where.region)}`];

let opened: TestApp;
let reader: BoardReader;
let url: string;
beforeAll(async () => {
  const windows = [{ kind: 'all' }, { kind: 'week' }] as const;
  const duel = {
    ...arena,
    board: 'duel',
    columns: ['wins', 'goals'].map((name) => ({ ...arena.columns[0]!, name })),
  };
  const definition = { ...arena, windows, dimensions: [[], ['region']] };
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  await fixture.store.registerBoards([duel]);
  const scores = [['ada', 5], ['bob/ü 1?', 3], ['eve', 3], ['max', 1]] as const; // prettier-ignore
  await fixture.apply(
    scores.map(([playerId, points]) => scored(playerId, [points], { views: lasting(...VIEWS) })),
  );
  opened = await openApp({ redis, prefix: fixture.keys.prefix });
  ({ reader } = opened);
  await opened.app.listen(0, '127.0.0.1');
  url = await opened.app.getUrl();
});
afterAll(async () => {
  try {
    await opened.app.close();
  } finally {
    await close(); // also if it was not opened: an open connection would keep jest running
  }
});

/** Each call, with many of its options. */
const CALLS: [keyof ViewReads, (reads: ViewReads) => Promise<unknown>][] = [
  ['standings', (reads) => reads.standings('arena')],
  ['standings', (reads) => reads.standings('arena', { ...REGION, from: 2, limit: 2, dense: true })],
  ['standings', (reads) => reads.standings('arena', { window: 'week', at: new Date(AT), scores: { min: 3, max: '4' } })],
  ['count', (reads) => reads.count('arena', { ...REGION, scores: { min: '3' } })],
  ['player', (reads) => reads.player('arena', 'bob/ü 1?', { gaps: true, dense: true })],
  ['player', (reads) => reads.player('arena', 'nobody', { view: VIEWS[2] })],
  ['around', (reads) => reads.around('arena', 'eve', { above: 1, below: 0 })],
  ['players', (reads) => reads.players('arena', ['eve', 'bob/ü 1?', 'nobody'], { ...REGION, at: AT })],
  ['playerOn', (reads) => reads.playerOn('ada', [{ board: 'duel' }, { board: 'arena', window: 'week', at: AT }])],
  ['rankOf', (reads) => reads.rankOf('arena', 3, REGION)],
  ['rankOf', (reads) => reads.rankOf('duel', { wins: 1, goals: '2' })],
  ['at', (reads) => reads.at('arena', { percent: 50 }, { dense: true })],
  ['histogram', (reads) => reads.histogram('arena', { buckets: 2, scores: { max: 4 } })],
  ['search', (reads) => reads.search('arena', 'B/')],
]; // prettier-ignore

describe('a reader over HTTP', () => {
  it.each(CALLS)('answers %s as the reader of Redis does', async (_, call) => {
    expect(await call(new HttpBoardReader({ url }))).toEqual(await call(reader));
  });

  it('lists boards and views', async () => {
    const over = new HttpBoardReader({ url });
    const names = (await reader.boards()).map(({ board }) => board);
    expect((await over.boards()).map(({ board }) => board)).toEqual(names);
    expect(await over.board('duel')).toMatchObject({
      board: 'duel',
      columns: [{ name: 'wins' }, { name: 'goals' }],
    });
    const views = await reader.views('arena');
    expect((await over.views('arena')).map(({ view, size }) => [view, size])).toEqual(
      views.map(({ view, size }) => [view, size]),
    );
  });

  it('rejects what is no time as the service does', async () => {
    const asked = new HttpBoardReader({ url }).count('arena', { at: NaN });
    await expect(asked).rejects.toMatchObject({ status: 400 });
  });

  it('goes on with the cursors of pages', async () => {
    const over = new HttpBoardReader({ url: `${url}/` });
    const { next, entries } = await over.standings('arena', { limit: 3 });
    const rest = await over.standings('arena', { limit: 3, ...(next && { after: next }) });
    const ids = [...entries, ...rest.entries].map(({ playerId }) => playerId);
    expect(ids).toEqual(['ada', 'bob/ü 1?', 'eve', 'max']);
  });

  it.each(['.', '..'])(
    'refuses the id %j, which no URL can hold, and asks for it in a body',
    async (id) => {
      const over = new HttpBoardReader({ url });
      await expect(over.around('arena', id)).rejects.toMatchObject({ code: 'INVALID_READ' });
      expect((await over.players('arena', [id])).missing).toEqual([id]);
    },
  );

  it('rejects with the code and the way out that the service gives', async () => {
    const asked = new HttpBoardReader({ url }).standings('areena');
    await expect(asked).rejects.toMatchObject({
      ...{ constructor: HttpReadError, code: 'UNKNOWN_BOARD', status: 404, retriable: false },
      message: expect.stringContaining('live boards: arena, duel'),
    });
  });

  it('rejects as UNREACHABLE when nothing answers in time, or at all', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const refused = { constructor: HttpReadError, code: 'UNREACHABLE', status: 0, retriable: true };
    const late = new HttpBoardReader({ url: urlOf(silent), timeoutMs: 50 }).count('arena');
    await expect(late).rejects.toMatchObject(refused);
    silent.closeAllConnections();
    const gone = new HttpBoardReader({ url: urlOf(silent) });
    await new Promise((resolve) => silent.close(resolve));
    await expect(gone.count('arena')).rejects.toMatchObject(refused);
  });

  it.each([
    [502, true],
    [200, false],
  ])(
    'rejects with the text of an answer %i that is no JSON, such as that of a proxy',
    async (status, retriable) => {
      const proxy = createServer((_, answer) =>
        answer.writeHead(status).end('<h1>Bad gateway</h1>'),
      );
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const asked = new HttpBoardReader({ url: urlOf(proxy) }).count('arena');
      await expect(asked).rejects.toMatchObject({ code: 'NO_PROBLEM', status, retriable });
      await new Promise((resolve) => proxy.close(resolve));
    },
  );
});

function urlOf(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

import { once } from 'node:events';
import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { BoardDefinition } from '#board';
import { arena, lasting, scored } from '../../board-store/fixture.js';
import { GenerationFixture } from '../../board-store/generation-fixture.js';
import { interceptedClient, openTestRedis } from '../../board-store/test-redis.js';
import { eventually } from '../../support/eventually.js';
import { openApp, type TestApp } from './app.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;

const definition: BoardDefinition = {
  ...arena,
  columns: ['points', 'rank'].map((name) => ({ ...arena.columns[0]!, name })),
  dimensions: [[], ['region']],
};
/** Ids have no control characters, so no line breaks but those of Unicode. */
const IDS = [
  'a,b',
  '"',
  'a "b", c',
  ' a ',
  '=1+1',
  "'",
  '\u2028',
  'é',
  '😀',
  '中\u00A0',
  ';',
  '\\n',
];
const PLAYERS = 3_000;
/** The pages that are read before the answer begins. */
const FIRST_READS = 1;
const MANY = Array.from({ length: PLAYERS }, (_, n) => scored(`player-${n}`, [n % 100, n]));
/** Views of the players IDS; the board has MANY in the view `all`. */
const SMALL = ['all region=a%2Cb%22', 'all region=%3D1'];
const FEW = IDS.map((id, n) => scored(id, [n, 0], { views: lasting(...SMALL) }));

let fixture: GenerationFixture;
let opened: TestApp;
let origin: string;
/** Runs before each read of a page. */
let beforePage = (): Promise<void> | undefined => undefined;
let reads = 0;

beforeAll(async () => {
  fixture = await GenerationFixture.make(testRedis, { definition, events: [] });
  await fixture.store.registerBoards([{ ...definition, board: 'empty' }]);
  await fixture.refresh();
  await fixture.apply([...FEW, ...MANY]);
  const client = interceptedClient(redis, /^ranklogPageBuffer$/, async (run) => {
    reads += 1;
    await beforePage();
    return run();
  });
  opened = await openApp({ redis: client, prefix: fixture.keys.prefix });
  await opened.app.listen(0, '127.0.0.1');
  origin = await opened.app.getUrl();
});
afterAll(async () => {
  try {
    await opened.app.close();
  } finally {
    await close(); // also if it was not opened: an open connection would keep jest running
  }
});

const answerTo = async (query: string, headers = {}) => {
  const sent = get(`${origin}/v1/boards/arena/export${query}`, { agent: false, headers });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
};

/** The rows of an export, from the reader. */
async function rowsOf(views?: readonly string[]) {
  const rows = [];
  for await (const { view, entries } of fixture.reader().export('arena', views))
    for (const { rank, competitionRank, playerId, columns, reachedAt } of entries)
      rows.push({ view, rank, competitionRank, playerId, columns, reachedAt });
  return rows;
}

describe('an export over HTTP', () => {
  it.each<[string, string[] | undefined]>([
    ['', undefined],
    [`view=all&view=${encodeURIComponent(SMALL[0]!)}`, ['all', SMALL[0]!]],
    [`view=all%20region%3Dnone&view=${encodeURIComponent(SMALL[1]!)}`, [SMALL[1]!]],
  ])('of "%s" has the rows of the reader, as NDJSON and as CSV', async (query, views) => {
    const expected = await rowsOf(views);
    const ndjson = await answerTo(`?${query}`);
    expect(ndjson.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = (await text(ndjson)).split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(expected);
    const csv = await answerTo(`?format=csv&${query}`);
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    const [head, ...rows] = parse(await text(csv), { record_delimiter: '\r\n' });
    const places = ['view', 'rank', 'competitionRank', 'playerId'];
    expect(head).toEqual([...places, 'columns.points', 'columns.rank', 'reachedAt']);
    expect(rows).toEqual(
      expected.map(({ columns, reachedAt, ...place }) => [
        ...Object.values(place).map(String),
        ...[columns['points'], columns['rank'], reachedAt],
      ]),
    );
  });

  it('answers HEAD without reading the board', async () => {
    const before = reads;
    const { statusCode, headers } = await opened.app.inject({
      method: 'HEAD',
      url: '/v1/boards/arena/export',
    });
    expect([statusCode, headers['content-type']]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
    ]);
    await rowsOf(); // takes longer than the other reads would
    expect(reads - before).toBeLessThan(3);
  });

  it.each([
    ['?view=all&view=week', 404, 'NO_SUCH_VIEW'],
    ['?format=xml', 400, 'INVALID_REQUEST'],
    ['?regoin=eu', 400, 'UNKNOWN_PARAMETER'],
  ])('of "%s" is a problem', async (query, status, code) => {
    const response = await opened.app.inject(`/v1/boards/arena/export${query}`);
    expect(response.json()).toMatchObject({ status, code });
  });

  it.each(['arena', 'empty'])(
    'of the board %s is refused while Redis lacks events',
    async (board) => {
      const { keys } = fixture;
      const url = `/v1/boards/${board}/export`;
      expect((await opened.app.inject(url)).statusCode).toBe(200);
      await redis.hset(keys.recoveryTargets(0), 0, 99);
      const response = await opened.app.inject(url);
      await redis.del(keys.recoveryTargets(0));
      expect(response.json()).toMatchObject({ status: 503, code: 'STALE' });
      expect(response.headers['retry-after']).toBe('1');
    },
  );

  it.each([0, FIRST_READS])(
    'makes room when its client leaves after %d pages; a ninth one at once is refused',
    async (pages) => {
      let goOn: () => void = () => undefined;
      const waits = new Promise<void>((resolve) => (goOn = resolve));
      const leaving: ClientRequest[] = [];
      while (leaving.length < 8) {
        let own = 0;
        beforePage = () => (++own > pages ? waits : undefined);
        leaving.push(get(`${origin}/v1/boards/arena/export`, { agent: false }));
        leaving.at(-1)!.on('error', () => undefined); // when it leaves
        await eventually(() => own > pages, 'the export waits');
      }
      beforePage = () => undefined;
      const refused = await opened.app.inject('/v1/boards/arena/export');
      for (const request of leaving) request.destroy();
      goOn();
      expect([refused.statusCode, refused.body]).toEqual([
        503,
        expect.stringContaining('OVERLOADED'),
      ]);
      const answers = async () => (await opened.app.inject('/v1/boards/arena/export')).statusCode;
      await eventually(async () => (await answers()) === 200, 'there is room again', 20);
      expect(opened.logged).toEqual([]);
    },
  );

  it.each([{}, { 'accept-encoding': 'gzip' }])(
    'cuts the connection if it cannot go on (%j)',
    async (headers) => {
      let own = 0;
      beforePage = async () => {
        if (++own !== FIRST_READS + 1) return;
        await fixture.killHolder(); // the lease of the fixture may have expired
        await fixture.acquire();
        await fixture.makeLive(await fixture.build([...FEW, ...MANY]));
      };
      const response = await answerTo('', headers);
      await expect(text(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
      beforePage = () => undefined;
      expect(opened.logged.splice(0)).toEqual([
        expect.stringMatching(/^an export of board "arena" ended early: .*another generation/),
      ]);
    },
  );
});

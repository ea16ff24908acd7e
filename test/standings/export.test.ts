import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { BoardDefinition } from '#board';
import type { ExportRequest } from '#board-store';
import { arena, lasting, scored } from '../board-store/fixture.js';
import { GenerationFixture } from '../board-store/generation-fixture.js';
import { interceptedClient, openTestRedis } from '../board-store/test-redis.js';
import { eventually } from '../support/eventually.js';
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
/** The pages that are read before the first part is sent: the first one of each view. */
const FIRST_READS = 3;
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
  fixture = await GenerationFixture.make(testRedis, { definition, events: [...FEW, ...MANY] });
  const client = interceptedClient(redis, /^ranklogPage$/, async (run) => {
    reads += 1;
    await beforePage();
    return run();
  });
  opened = await openApp({ redis: client, prefix: fixture.keys.prefix });
  await opened.app.listen(0, '127.0.0.1');
  origin = await opened.app.getUrl();
});
afterAll(async () => {
  await opened.app.close();
  await close();
});

const answerTo = async (query: string, headers = {}) => {
  const sent = get(`${origin}/v1/boards/arena/export${query}`, { agent: false, headers });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
};

/** The rows of an export, from the reader. */
async function rowsOf(request?: ExportRequest) {
  const rows = [];
  for await (const { view, entries } of fixture.reader().export('arena', request))
    for (const { rank, competitionRank, playerId, columns, reachedAt } of entries)
      rows.push({ view, rank, competitionRank, playerId, columns, reachedAt });
  return rows;
}

describe('an export over HTTP', () => {
  it.each<[string, ExportRequest]>([
    ['', {}],
    ['region==1', { where: { region: '=1' } }],
    ['window=all', { window: 'all' }],
    [`view=all&view=${encodeURIComponent(SMALL[0]!)}`, { views: ['all', SMALL[0]!] }],
    ['view=all%20region%3Dnone', { views: ['all region=none'] }],
  ])('of "%s" has the rows of the reader, as NDJSON and as CSV', async (query, request) => {
    const expected = await rowsOf(request);
    const ndjson = await answerTo(`?${query}`);
    expect(ndjson.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="arena.ndjson"',
    });
    const lines = (await text(ndjson)).split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(expected);
    const csv = await answerTo(`?format=csv&${query}`);
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="arena.csv"',
    });
    const [head, ...rows] = parse(await text(csv), { record_delimiter: '\r\n' });
    const places = ['view', 'rank', 'competitionRank', 'playerId'];
    expect(head).toEqual([...places, 'points', 'score.rank', 'reachedAt']);
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
    expect(reads - before).toBeLessThan(6);
  });

  it.each([
    ['?view=all&window=all', 400, 'INVALID_READ'],
    ['?window=week', 404, 'NO_SUCH_VIEW'],
    ['?view=all&view=week', 404, 'NO_SUCH_VIEW'],
    ['?format=xml', 400, 'INVALID_REQUEST'],
    ['?regoin=eu', 400, 'UNKNOWN_PARAMETER'],
  ])('of "%s" is a problem', async (query, status, code) => {
    const response = await opened.app.inject(`/v1/boards/arena/export${query}`);
    expect(response.json()).toMatchObject({ status, code });
  });

  it('is refused while Redis lacks events', async () => {
    const { keys } = fixture;
    await redis.hset(keys.recoveryTargets(0), 0, 99);
    const response = await opened.app.inject('/v1/boards/arena/export');
    await redis.del(keys.recoveryTargets(0));
    expect(response.json()).toMatchObject({ status: 503, code: 'STALE' });
    expect(response.headers['retry-after']).toBe('1');
  });

  it('makes room when its client leaves; a ninth one at once is refused', async () => {
    let goOn: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (goOn = resolve));
    const leaving: IncomingMessage[] = [];
    while (leaving.length < 8) {
      let own = 0;
      beforePage = () => (++own > FIRST_READS ? waits : undefined);
      leaving.push(await answerTo(''));
    }
    const refused = await opened.app.inject('/v1/boards/arena/export');
    expect(refused.json()).toMatchObject({ status: 503, code: 'OVERLOADED' });
    for (const response of leaving) response.destroy();
    goOn();
    beforePage = () => undefined;
    const answers = async () => (await opened.app.inject('/v1/boards/arena/export')).statusCode;
    await eventually(async () => (await answers()) === 200, 'there is room again');
    expect(opened.logged).toEqual([]);
  });

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

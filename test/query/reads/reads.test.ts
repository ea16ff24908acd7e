import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import type { BoardDefinition } from '#board';
import type { BoardReader } from '#board-store';
import { arena, lasting, scored, StoreFixture } from '../../board-store/fixture.js';
import { openTestRedis } from '../../board-store/test-redis.js';
import { openApp, type TestApp } from './app.js';

const DOCUMENT = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as object;

const { redis, newKeys, close } = openTestRedis();

const definition: BoardDefinition = {
  ...arena,
  windows: [{ kind: 'all' }, { kind: 'week' }],
  dimensions: [[], ['region'], ['limit']],
};
const duel: BoardDefinition = {
  ...arena,
  board: 'duel',
  columns: ['wins', 'goals'].map((name) => ({ ...arena.columns[0]!, name })),
};
const AT = Date.parse('2026-11-20T09:00:00Z');
const VIEWS = ['all', 'week:2026-W47', 'all region=eu%2Fwest', 'all limit=low'];

let opened: TestApp;
let reader: BoardReader;
beforeAll(async () => {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  await fixture.store.registerBoards([duel]);
  const scores = [['ada', 5], ['bob/ü 1', 3], ['eve', 3], ['max', 1]] as const; // prettier-ignore
  await fixture.apply(
    scores.map(([playerId, points]) => scored(playerId, [points], { views: lasting(...VIEWS) })),
  );
  opened = await openApp({ redis, prefix: fixture.keys.prefix });
  ({ reader } = opened);
});
afterAll(async () => {
  try {
    await opened.app.close();
  } finally {
    await close(); // also if it was not opened: an open connection would keep jest running
  }
});

const BOB = encodeURIComponent('bob/ü 1');
const inject = (method: 'GET' | 'POST', url: string, payload?: object) =>
  opened.app.inject({ method, url, ...(payload && { payload }) });

/** Requests, the read of the library that each stands for, and the name of the answer's schema. */
const READS: [string, string, () => Promise<unknown>, (object | undefined)?][] = [
  ['/v1/boards/arena/standings', 'Standings', () => reader.standings('arena')],
  [
    '/v1/boards/arena/standings?window=week&at=2026-11-20T09:00:00Z&limit=2&from=2&dense=true',
    'Standings',
    () => reader.standings('arena', { window: 'week', at: AT, limit: 2, from: 2, dense: true }),
  ],
  [
    '/v1/boards/arena/standings?where.region=eu%2Fwest&min=3&max=4',
    'Standings',
    () =>
      reader.standings('arena', { where: { region: 'eu/west' }, scores: { min: '3', max: '4' } }),
  ],
  [
    '/v1/boards/arena/standings?where.limit=low&limit=1',
    'Standings',
    () => reader.standings('arena', { where: { limit: 'low' }, limit: 1 }),
  ],
  [
    '/v1/boards/arena/standings?view=all%20region%3Deu%252Fwest',
    'Standings',
    () => reader.standings('arena', { view: 'all region=eu%2Fwest' }),
  ],
  [`/v1/boards/arena/players/${BOB}`, 'PlayerStanding', () => reader.player('arena', 'bob/ü 1')],
  [
    `/v1/boards/arena/players/${BOB}?gaps=true`,
    'PlayerStanding',
    () => reader.player('arena', 'bob/ü 1', { gaps: true }),
  ],
  ['/v1/boards/arena/players/nobody', 'PlayerStanding', () => reader.player('arena', 'nobody')],
  [
    `/v1/boards/arena/players/${BOB}/around?above=1&below=0`,
    'Standings',
    () => reader.around('arena', 'bob/ü 1', { above: 1, below: 0 }),
  ],
  ['/v1/boards/arena/players?search=B%2F', 'Search', () => reader.search('arena', 'B/')],
  [
    '/v1/boards/arena/players:batch',
    'SelectedStandings',
    () => reader.players('arena', ['eve', 'ada', 'no'], { where: { region: 'eu/west' } }),
    { playerIds: ['eve', 'ada', 'no'], where: { region: 'eu/west' } },
  ],
  ['/v1/boards/arena/rank?score=3', 'RankOfScore', () => reader.rankOf('arena', '3')],
  [
    '/v1/boards/duel/rank?score.wins=1&score.goals=2',
    'RankOfScore',
    () => reader.rankOf('duel', { wins: '1', goals: '2' }),
  ],
  ['/v1/boards/arena/at?rank=2', 'Standings', () => reader.at('arena', { rank: 2 })],
  ['/v1/boards/arena/at?percent=50', 'Standings', () => reader.at('arena', { percent: 50 })],
  [
    '/v1/boards/arena/count?min=2',
    'Count',
    async () => {
      const { view, version, stale, size } = await reader.standings('arena', { limit: 0 });
      const count = await reader.count('arena', { scores: { min: 2 } });
      return { board: 'arena', view, version, stale, size, count };
    },
  ],
  [
    '/v1/boards/arena/count?where.region=nowhere',
    'Count',
    () =>
      Promise.resolve({
        ...{ board: 'arena', view: 'all region=nowhere', version: 0, stale: false, size: 0 },
        count: 0,
      }),
  ],
  [
    '/v1/boards/arena/histogram?buckets=2&min=1&max=4',
    'Histogram',
    () => reader.histogram('arena', { buckets: 2, scores: { min: 1, max: 4 } }),
  ],
  [
    '/v1/players/ada/standings',
    'PlayerStandings',
    async () => ({
      playerId: 'ada',
      standings: await reader.playerOn('ada', [
        { board: 'duel' },
        { board: 'arena', window: 'week', at: AT },
      ]),
    }),
    {
      requests: [{ board: 'duel' }, { board: 'arena', window: 'week', at: '2026-11-20T09:00:00Z' }],
    },
  ],
];

describe('a read over HTTP', () => {
  it.each(named(READS))('%s answers as the library does', async (_, [url, name, read, body]) => {
    const response = await inject(body === undefined ? 'GET' : 'POST', url, body);
    const expected = await read();
    expect(response.json()).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expectSchema(name, response.json());
  });

  it('lists boards in the fields of a boards file, and the views of a board with their sizes', async () => {
    const boards = await inject('GET', '/v1/boards');
    expect(boards.json()).toMatchObject({ boards: [{ board: 'arena' }, { board: 'duel' }] });
    const board = await inject('GET', '/v1/boards/arena');
    expect(board.json()).toMatchObject({
      ...{ board: 'arena', ties: 'earliest', windows: ['all', 'week'], maxAhead: '0ms' },
      dimensions: definition.dimensions,
      columns: [{ name: 'points', update: 'sum', order: 'desc', decimals: 0 }],
    });
    const views = await inject('GET', '/v1/boards/arena/views');
    const list = [...VIEWS].sort();
    expect(views.json()).toEqual({
      ...{ board: 'arena', stale: false },
      views: list.map((view) => ({ view, size: 4, version: expect.any(Number), expiresAt: null })),
    });
    expectSchema('Boards', boards.json());
    expectSchema('Board', board.json());
    expectSchema('Views', views.json());
  });

  it('continues after a page by its cursor, with the query of the first page', async () => {
    const url = '/v1/boards/arena/standings?where.region=eu%2Fwest&limit=3';
    const first = (await inject('GET', url)).json<{ entries: object[]; next: string }>();
    const second = await inject('GET', `${url}&after=${first.next}`);
    const other = url.replace('region', 'regoin');
    const misspelt = await inject('GET', `${other}&after=${first.next}`);
    expect(misspelt.json()).toMatchObject({ code: 'NO_SUCH_VIEW', suggestion: 'region' });
    const { entries } = await reader.standings('arena', { where: { region: 'eu/west' } });
    expect([...first.entries, ...second.json<{ entries: object[] }>().entries]).toMatchObject(
      entries.map(({ playerId, rank }) => ({ playerId, rank })),
    );
  });

  it('answers 304 without a body to a client that has the answer', async () => {
    const url = '/v1/boards/arena/standings';
    const { headers } = await inject('GET', url);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache' });
    const etag = String(headers.etag);
    const again = await opened.app.inject({ url, headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
    const other = await opened.app.inject({
      url: `${url}?limit=1`,
      headers: { 'if-none-match': etag },
    });
    expect(other.statusCode).toBe(200);
    const posted = await opened.app.inject({
      ...{ method: 'POST', url: '/v1/boards/arena/players:batch' },
      ...{ payload: { playerIds: ['ada'] }, headers: { 'if-none-match': '*' } },
    });
    expect(posted.statusCode).toBe(200);
  });

  it('is compressed for clients that accept gzip, unless it is short', async () => {
    const compressed = async (url: string) => {
      const headers = { 'accept-encoding': 'gzip, br' };
      return opened.app.inject({ url, headers });
    };
    const long = await compressed('/openapi.json');
    expect(long.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    const text = gunzipSync(long.rawPayload).toString();
    expect(JSON.parse(text)).toEqual((await inject('GET', '/openapi.json')).json());
    const short = await compressed('/v1/boards/arena/count');
    expect(short.headers['content-encoding']).toBeUndefined();
  });

  it('has the id of its request, the given one or a new one', async () => {
    const idOf = async (id: string) => {
      const { headers } = await opened.app.inject({
        url: '/v1/boards',
        headers: { 'x-request-id': id },
      });
      return headers['x-request-id'];
    };
    expect(await idOf('trace-1')).toBe('trace-1');
    expect(await idOf('a b')).toMatch(/^[\da-f-]{36}$/);
  });

  it('is open to the web pages of the allowed origins only', async () => {
    const { app } = await openApp(
      { redis, prefix: 'none' },
      { httpCors: ['https://game.example'] },
    );
    const allowed = async (of: typeof app, origin: string) => {
      const { headers } = await of.inject({ url: '/v1/boards', headers: { origin } });
      return headers['access-control-allow-origin'];
    };
    expect(await allowed(app, 'https://game.example')).toBe('https://game.example');
    expect(await allowed(app, 'https://other.example')).toBeUndefined();
    expect(await allowed(opened.app, 'https://game.example')).toBeUndefined();
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/v1/boards/arena/bans/mal',
      headers: { origin: 'https://game.example', 'access-control-request-method': 'PUT' },
    });
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, DELETE');
    const unknown = await app.inject({ url: '/nothing' });
    expect(unknown.json()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    await app.close();
  });
});

describe('the paths', () => {
  it('are those that docs/reference/http.md lists', async () => {
    const { paths } = (await inject('GET', '/openapi.json')).json<{ paths: object }>();
    const rows = readFileSync('docs/reference/http.md', 'utf8').matchAll(/^\| `\w+ (\/v1[^`?]*)/gm);
    const listed = [...rows].map(([, path = '']) =>
      path.replace('BOARD', '{board}').replace('PLAYER', '{player}'),
    );
    expect([...new Set(listed)].sort()).toEqual(Object.keys(paths).sort());
  });

  it('answer the examples of docs/reference/http.md, of which each path has one', async () => {
    const text = readFileSync('docs/reference/http.md', 'utf8').replaceAll('\\\n', '');
    const examples = [
      ...text.matchAll(/^curl (?:-X (\w+) )?.*:9464(\/v1[^' ]*)'?(?: +-d '(.*)')?$/gm),
    ];
    for (const [command, given, url = '', body] of examples) {
      const payload = body === undefined ? undefined : (JSON.parse(body) as object);
      const isEvent = url.endsWith('/events') && payload !== undefined;
      const attributes = { region: 'eu', limit: 'low' }; // this board has one dimension more
      const sent = isEvent ? { ...payload, attributes } : payload;
      const method = given ?? (payload ? 'POST' : 'GET');
      const { statusCode } = await inject(method as 'GET', url, sent);
      const isUnban = method === 'DELETE'; // this board has no bans
      const isWrite = isEvent || method === 'PUT';
      expect([command, statusCode]).toEqual([command, isUnban ? 409 : isWrite ? 202 : 200]);
    }
    const { paths } = (await inject('GET', '/openapi.json')).json<{ paths: object }>();
    const operations = Object.values(paths).flatMap((path: object) => Object.keys(path));
    expect(examples).toHaveLength(operations.length);
  });
});

describe('the page for browsers', () => {
  it('has all paths and schemas of the OpenAPI document', async () => {
    const { headers, body } = await inject('GET', '/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const document = (await inject('GET', '/openapi.json')).json<{
      paths: object;
      components: { schemas: object };
    }>();
    for (const path of Object.keys(document.paths)) expect(body).toContain(` ${path}</code>`);
    for (const name of Object.keys(document.components.schemas))
      expect(body).toContain(`<a href="#${name}">`);
  });
});

describe('docs/reference/openapi.json', () => {
  it('describes the routes as they are (if not: npm run api-docs)', async () => {
    expect((await inject('GET', '/openapi.json')).json()).toEqual(DOCUMENT);
    expect(DOCUMENT).toMatchObject({ openapi: '3.1.0' });
  });
});

/** Of a search in the view `all` on another server. */
const SEARCH_CURSOR = Buffer.from('["all","1","1"]').toString('base64url');

/**
 * Board arena has the dimensions `region` and `limit`, which is also a parameter of `standings`.
 */
const REFUSALS: [string, number, string, string | RegExp, string?][] = [
  ['/v1/boards/areena/standings', 404, 'UNKNOWN_BOARD', 'there is no board "areena"', 'arena'],
  ['/v1/boards/%00/count', 404, 'UNKNOWN_BOARD', 'there is no board'],
  ['/v1/boards/arena/standings?limt=5', 400, 'UNKNOWN_PARAMETER', 'no parameter "limt"', 'limit'],
  ['/v1/boards/arena/standings?view=all&limt=5', 400, 'UNKNOWN_PARAMETER', '"limt"', 'limit'],
  ['/v1/boards/arena/standings?region=eu', 400, 'UNKNOWN_PARAMETER', 'is "where.region"'],
  [
    '/v1/boards/arena/standings?where.regoin=eu',
    404,
    'NO_SUCH_VIEW',
    'not ranked by regoin',
    'region',
  ],
  ['/v1/boards/arena/standings?where=eu', 400, 'UNKNOWN_PARAMETER', 'write where.NAME=VALUE'],
  ['/v1/boards/duel/rank?scores=3', 400, 'UNKNOWN_PARAMETER', 'write score.NAME=VALUE'],
  ['/v1/boards/arena/standings?were=eu', 400, 'UNKNOWN_PARAMETER', 'is "where.were"'],
  ['/v1/boards/arena/count?score.points=1', 400, 'UNKNOWN_PARAMETER', '"score.NAME"'],
  ['/v1/boards?where.region=eu', 400, 'UNKNOWN_PARAMETER', '"where.NAME"'],
  ['/v1/boards?where=eu', 400, 'UNKNOWN_PARAMETER', 'no parameter "where"'],
  ['/v1/boards/arena/count?limit=5', 400, 'UNKNOWN_PARAMETER', 'no parameter "limit"'],
  ['/v1/boards?limit=5', 400, 'UNKNOWN_PARAMETER', 'there are no parameters'],
  ['/v1/boards/arena/standings?__proto__=x', 400, 'UNKNOWN_PARAMETER', '"__proto__"'],
  ['/v1/boards/arena/standings?where.__proto__=x', 404, 'NO_SUCH_VIEW', '__proto__'],
  ['/v1/boards/arena/rank?score=1&score.__proto__=1', 400, 'INVALID_READ', 'score'],
  ['/v1/boards/arena/views?after=x', 400, 'INVALID_READ', 'is not a cursor'],
  ['/v1/boards/arena/views?after=WyJhIiwiYiIsIjEiXQ', 400, 'INVALID_READ', 'list them again'],
  ['/v1/boards/arena/standings?limit=1001', 400, 'INVALID_REQUEST', 'from 0 to 1000, not 1001'],
  ['/v1/boards/arena/standings?limit=many', 400, 'INVALID_REQUEST', 'not "many"'],
  ['/v1/boards/arena/standings?limit=', 400, 'INVALID_REQUEST', 'limit must be a whole number'],
  ['/v1/boards/arena/standings?limit=1&limit=2', 400, 'INVALID_REQUEST', 'not ["1","2"]'],
  [
    '/v1/boards/arena/standings?where.region=a&where.region=b',
    400,
    'INVALID_REQUEST',
    'where.region must be a string, not ["a","b"]',
  ],
  [
    '/v1/boards/arena/standings?where.a.b=1&where.a.b=2',
    400,
    'INVALID_REQUEST',
    'where.a.b must be',
  ],
  [
    '/v1/boards/arena/standings?where.a%2Fb~c=1&where.a%2Fb~c=2',
    400,
    'INVALID_REQUEST',
    'where.a/b~c must be',
  ],
  ['/v1/boards/arena/standings?from=0', 400, 'INVALID_REQUEST', 'from must be a whole'],
  ['/v1/boards/arena/standings?at=yesterday', 400, 'INVALID_REQUEST', 'at must be an RFC 3339'],
  ['/v1/boards/arena/standings?dense=maybe', 400, 'INVALID_REQUEST', 'dense must be true or false'],
  ['/v1/boards/arena/standings?after=x', 400, 'INVALID_READ', 'is not a cursor'],
  ['/v1/boards/duel/standings?after=WyJ4IiwiYWxsIiwiMUAwIiwiYSJd', 400, 'INVALID_READ', 'cursor'],
  ['/v1/boards/arena/standings?after=x&from=2', 400, 'INVALID_READ', 'excludes from'],
  ['/v1/boards/arena/standings?min=5&max=4', 400, 'INVALID_READ', 'min 5 is above max 4'],
  ['/v1/boards/arena/standings?min=1.5', 400, 'INVALID_READ', 'is not a decimal'],
  ['/v1/boards/arena/standings?view=all&window=week', 400, 'INVALID_READ', 'view: excludes'],
  ['/v1/boards/arena/standings?view=all%20x', 400, 'MALFORMED_VIEW', 'is not a view'],
  ['/v1/boards/arena/standings?window=wek', 404, 'NO_SUCH_VIEW', 'has no window "wek"', 'week'],
  [
    '/v1/boards/arena/standings?where.region=a&where.limit=b',
    404,
    'NO_SUCH_VIEW',
    'is not ranked by',
  ],
  ['/v1/boards/arena/rank', 400, 'INVALID_READ', 'needs a value for each column'],
  ['/v1/boards/duel/rank?score=1', 400, 'INVALID_READ', 'wins, goals'],
  ['/v1/boards/arena/at', 400, 'INVALID_READ', 'give either rank or percent'],
  ['/v1/boards/arena/at?rank=1&percent=2', 400, 'INVALID_READ', 'give either rank or percent'],
  ['/v1/boards/arena/at?percent=0', 400, 'INVALID_REQUEST', 'percent must be a number'],
  ['/v1/boards/arena/players?search=', 400, 'INVALID_READ', 'text: is empty'],
  ['/v1/boards/arena/players', 400, 'INVALID_REQUEST', 'search must be a string, but is'],
  [
    `/v1/boards/arena/players?search=a&where.regoin=eu&after=${SEARCH_CURSOR}`,
    404,
    'NO_SUCH_VIEW',
    'regoin',
    'region',
  ],
  ['/v1/boards/arena/players/a/around?above=1000', 400, 'INVALID_READ', 'above + 1 + below'],
  ['/v1/boards/arena/histogram?buckets=0', 400, 'INVALID_REQUEST', 'buckets must be a whole'],
  ['/v1/boards/arena/nothing', 404, 'NOT_FOUND', 'nothing at GET /v1/boards/arena/nothing'],
  ['/v1/boards/%zz', 400, 'BAD_REQUEST', 'is not a valid url component'],
  ['/v1/boards/arena/standings?window=%zz', 400, 'BAD_REQUEST', 'write a percent sign as %25'],
  ['/v1/boards/arena/standings?window=%ff', 400, 'BAD_REQUEST', 'write a percent sign as %25'],
  [`/v1/boards/arena/players/${'x'.repeat(129)}`, 400, 'INVALID_READ', 'is no id: 1 to 128 bytes'],
  ['/v1/boards/arena/players/%00/around', 400, 'INVALID_READ', 'is no id: 1 to 128 bytes'],
  ['/v1/boards/arena/players/%00/events', 400, 'INVALID_READ', 'is no id: 1 to 128 bytes'],
  [`/v1/boards/${'x'.repeat(400)}`, 414, 'URI_TOO_LONG', /./],
];

describe('a bad request', () => {
  it.each(named(REFUSALS))('GET %s: a problem', async (_, row) => {
    const [url, status, code, detail, suggestion] = row;
    const response = await inject('GET', url);
    expect(response.json()).toEqual({
      ...{ type: `urn:ranklog:problem:${code}`, title: expect.any(String), status, code },
      detail: typeof detail === 'string' ? expect.stringContaining(detail) : expect.anything(),
      ...(suggestion !== undefined && { suggestion }),
    });
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(response.headers['x-request-id']).toBeDefined();
    expectSchema('Problem', response.json());
  });

  const TOO_MANY = JSON.stringify({ playerIds: Array(1_001).fill('a') });
  const UNKNOWN = '{"playerIds":["a"],"wndow":"x"}';
  const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);
  const SURROGATE = '{"playerIds":["a"],"where":{"region":"\\ud800"}}';
  it.each([
    ['', [400, 'INVALID_REQUEST', 'the body must be an object']],
    ['[]', [400, 'INVALID_REQUEST', 'the body must be an object']],
    [
      '{"playerIds":[]}',
      [400, 'INVALID_REQUEST', 'playerIds must be a list of 1 to 1000 strings, not []'],
    ],
    ['{"playerIds":[1]}', [400, 'INVALID_REQUEST', 'playerIds.0 must be a string, not 1']],
    [TOO_MANY, [400, 'INVALID_REQUEST', 'playerIds must have at most 1000 values, not 1001']],
    [UNKNOWN, [400, 'UNKNOWN_PARAMETER', 'no parameter "wndow"']],
    [DEEP, [400, 'INVALID_REQUEST', 'the body has more than 1000 levels of nesting']],
    [SURROGATE, [400, 'MALFORMED_VIEW', 'is not a view']],
    ['{', [400, 'BAD_REQUEST', 'not valid JSON']],
    ['{"__proto__":{}}', [400, 'BAD_REQUEST', 'not valid JSON']],
    [`"${'x'.repeat(1_100_000)}"`, [413, 'PAYLOAD_TOO_LARGE', 'too large']],
  ] as const)('POST with the body %.40s: a problem', async (body, expected) => {
    await expectRefusal('/v1/boards/arena/players:batch', body, expected);
  });

  it.each([
    'text/csv',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('of the content type %s is a problem', async (type) => {
    const expected = [415, 'UNSUPPORTED_MEDIA_TYPE', 'send the body as application/json'] as const;
    await expectRefusal('/v1/boards/arena/players:batch', 'playerIds=a', expected, type);
    await expectRefusal('/v1/boards/arena/events', 'playerId=a&delta=1', expected, type);
  });

  it('by POST with an unknown parameter, or within a list, is a problem', async () => {
    const unknown = [400, 'UNKNOWN_PARAMETER', 'no parameter "window" here'] as const;
    const batch = '/v1/boards/arena/players:batch?window=week';
    await expectRefusal(batch, '{"playerIds":["a"]}', unknown);
    await expectRefusal('/v1/players/a/standings?window=week', '{"requests":[]}', unknown);
    const tooMany = [400, 'INVALID_REQUEST', 'at most 100 values, not 1001'] as const;
    const many = JSON.stringify({ requests: Array(1_001).fill({ board: 'arena' }) });
    await expectRefusal('/v1/players/a/standings', many, tooMany);
    const requests = '{"requests":[{"board":"areena"}]}';
    await expectRefusal('/v1/players/a/standings', requests, [404, 'UNKNOWN_BOARD', 'areena']);
  });

  it('with a method that the path does not take is a problem, which names those that it takes', async () => {
    const expected = [
      405,
      'METHOD_NOT_ALLOWED',
      '/v1/boards?a=b takes GET, HEAD, not POST',
    ] as const;
    await expectRefusal('/v1/boards?a=b', '{}', expected);
    const { headers } = await inject('POST', '/v1/boards/arena/players/ada', {});
    expect(headers.allow).toBe('GET, HEAD');
    expect((await inject('GET', '/v1/players/a/standings')).headers.allow).toBe('POST');
  });

  it('that is no HTTP, or too long, is a problem', async () => {
    await opened.app.listen(0, '127.0.0.1');
    const { port } = new URL(await opened.app.getUrl());
    const answerTo = async (request: string) => {
      const socket = connect(Number(port), '127.0.0.1').end(request);
      return Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    };
    const malformed = await answerTo('NONSENSE\r\n\r\n');
    expect(malformed).toMatch(/^HTTP\/1.1 400 [^]*application\/problem\+json[^]*"BAD_REQUEST"/);
    const anonymous = await answerTo('GET /v1/boards HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(anonymous).toMatch(/^HTTP\/1.1 400 [^]*"detail":"the request has no header Host/);
    const long = await answerTo(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`);
    expect(long).toMatch(/^HTTP\/1.1 431 [^]*"code":"HEADERS_TOO_LARGE"/);
  });

  it('that expects what HTTP does not know is answered as usual', async () => {
    const url = new URL('/v1/nothing', await opened.app.getUrl());
    const sent = request(url, { agent: false, headers: { expect: 'nonsense' } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(await json(response)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('logs nothing', () => {
    expect(opened.logged).toEqual([]);
  });
});

/** Checks that a body is refused with a status, a code and a detail. */
async function expectRefusal(
  url: string,
  payload: string,
  [status, code, detail]: readonly [number, string, string],
  type = payload === '' ? undefined : 'application/json',
): Promise<void> {
  const headers = type === undefined ? {} : { 'content-type': type };
  const response = await opened.app.inject({ method: 'POST', url, headers, payload });
  const problem = { status, code, detail: expect.stringContaining(detail) };
  expect(response.json()).toMatchObject(problem);
  expect(response.statusCode).toBe(status);
  expectSchema('Problem', response.json());
}

/** Checks an answer against its schema in the OpenAPI document. */
function expectSchema(name: string, answer: unknown): void {
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema(DOCUMENT, 'openapi');
  ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, answer);
  expect(ajv.errors ?? []).toEqual([]);
}

/**
 * Rows for it.each with a name in front. (jest would pass a callback for a column that a row
 * lacks.)
 */
function named<Row extends readonly [string, ...unknown[]]>(rows: readonly Row[]) {
  return rows.map((row) => [row[0].slice(0, 80), row] as const);
}

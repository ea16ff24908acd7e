import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { TestInstance, until, type RanklogProcess } from '../../support/instance.js';
import { KafkaProxy } from '../../support/kafka-proxy.js';
import { readCommitted, readRankChanges } from '../../support/results.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points, min: 0, max: 100 }], dimensions: [[], [region]] }
  once: { columns: [{ name: points }], deduplicate: 24h }
  laps: { columns: [{ name: time, update: best, order: asc }], dimensions: [[], [region]] }
  daily:
    columns: [{ name: points }]
    windows: [{ window: day, close: { from: 2026-01-01 } }]
    late: count
`;

let instance: TestInstance;
let base: string;
let readOnly: string;
/** The process that applies records. */
let ingest: RanklogProcess;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  ingest = await instance.start('--roles', 'query,ingest,reconciliation');
  readOnly = urlOf(ingest);
  instance.env['RANKLOG_QUERY_WRITES'] = 'true';
  base = urlOf(await instance.start('--roles', 'query'));
});
afterAll(() => instance.remove());

const urlOf = ({ url }: RanklogProcess) => `${url}/v1/boards`;

const post = (path: string, body: object, to = base) => send('POST', path, body, to);

async function send(method: string, path: string, body?: object, to = base) {
  const response = await fetch(`${to}/${path}`, {
    method,
    ...(body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const eu = { region: 'eu' };
const WRITES_OFF = /; writes need RANKLOG_QUERY_WRITES=true$/;
const ada = { playerId: 'ada', delta: '5', attributes: eu };

describe('POST /v1/boards/BOARD/events', () => {
  it('is off by default', async () => {
    expect(await post('arena/events', ada, readOnly)).toMatchObject({
      status: 405,
      body: { code: 'METHOD_NOT_ALLOWED', detail: expect.stringMatching(WRITES_OFF) },
    });
    const { body } = await send('POST', 'arena/bans/mal', {});
    expect(body).toMatchObject({ detail: expect.not.stringMatching(WRITES_OFF) });
  });

  it('answers with the place of each event in Kafka, and the board has them', async () => {
    const events = Array.from({ length: 1_000 }, (_, n) => ({ ...ada, playerId: `p-${n % 50}` }));
    const { status, body } = await post('arena/events', { events });
    expect(status).toBe(202);
    expect(body['deduplicated']).toBe(false);
    const records = await readCommitted(instance.kafka, instance.topics.scoreEvents);
    const keys = new Map(
      records.map(({ partition, offset, key }) => [`${partition}/${offset}`, key?.toString()]),
    );
    const places = body['events'] as { partition: number; offset: number }[];
    expect(places.map(({ partition, offset }) => keys.get(`${partition}/${offset}`))).toEqual(
      events.map(({ playerId }) => playerId),
    );
    await until(async () => {
      const { entries } = await instance.reader.standings('arena', { where: eu });
      return entries.length === 50 && entries.every(({ columns }) => columns['points'] === '100');
    }, 'all events count');
  });

  it('answers with the rank change when asked to wait', async () => {
    const { status, body } = await post('arena/events?wait=rank&timeout=30000', ada);
    expect([status, body['status']]).toEqual([200, 'ranked']);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes.filter(({ playerId }) => playerId === 'ada')).toEqual([body['change']]);
    const late = await post('arena/events?wait=rank&timeout=1', ada);
    // Kafka may have acknowledged the event within 1 ms.
    expect([
      [202, 'unknown'],
      [503, 'SEND_FAILED'],
    ]).toContainEqual([late.status, late.body['code'] ?? late.body['status']]);
  });

  it('counts an eventId once on a board with `deduplicate`', async () => {
    const event = { playerId: 'bob', delta: 1, eventId: 'e-1', board: 'once' };
    const answers = [await post('once/events', event), await post('once/events', event)];
    expect(answers).toMatchObject([
      { status: 202, body: { deduplicated: true } },
      { status: 202, body: { deduplicated: true } },
    ]);
    const bob = () => instance.reader.player('once', 'bob');
    await until(async () => (await bob()).standing !== null, 'an event counts');
    const { standing, ...head } = await bob();
    expect(standing?.columns).toEqual({ points: '1' });
    const places = [{ ...head, standing }];
    expect(await post('once/events?wait=rank&timeout=30000', event)).toEqual({
      status: 200,
      body: { status: 'unchanged', places },
    });
  });

  it('answers with the present places if the event changes nothing', async () => {
    const send = (playerId: string, delta: number) =>
      post('laps/events?wait=rank&timeout=30000', { playerId, delta, attributes: eu });
    expect(await send('ann', 8)).toMatchObject({ body: { status: 'ranked' } });
    const at = (view: string, rank: number) => {
      return { view, stale: false, standing: { rank, columns: { time: '8' } } };
    };
    expect(await send('ann', 12)).toMatchObject({
      status: 200,
      body: { status: 'unchanged', places: [at('all', 1), at('all region=eu', 1)] },
    });
    expect(await send('bob', 7)).toMatchObject({ body: { status: 'ranked' } });
    expect(await send('ann', 9)).toMatchObject({
      body: { status: 'unchanged', places: [at('all', 2), at('all region=eu', 2)] },
    });
  });

  it('refuses an event whose windows have all closed, also where the board would only count it', async () => {
    const late = { playerId: 'ada', delta: 1, occurredAt: '2026-03-10T12:00:00Z' };
    expect(await post('daily/events', late)).toMatchObject({
      status: 422,
      body: { code: 'INVALID_EVENT', event: { index: 0, code: 'WINDOW_CLOSED' } },
    });
    expect(await post('daily/events', { ...late, occurredAt: undefined })).toMatchObject({
      status: 202,
    });
  });

  it.each([
    ['UNKNOWN_COLUMN', { ...ada, delta: undefined, deltas: { goals: '1' } }],
    ['OUT_OF_BOUNDS', { ...ada, delta: '101' }],
    ['MISSING_DIMENSION', { ...ada, attributes: {} }],
    ['INVALID_ID', { ...ada, playerId: '' }],
    ['INVALID_NUMBER', { ...ada, delta: 'much' }],
    ['DELTA_OR_DELTAS', { playerId: 'ada' }],
    ['TOO_FAR_AHEAD', { ...ada, occurredAt: '2999-01-01T00:00:00Z' }],
  ])('refuses all events because of one: %s', async (code, bad) => {
    const ends = () => instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    const before = await ends();
    const { status, body } = await post('arena/events', { events: [ada, bad] });
    expect([status, body]).toMatchObject([
      422,
      { code: 'INVALID_EVENT', event: { index: 1, code } },
    ]);
    expect((body['event'] as { wayOut: string }).wayOut).not.toBe('');
    expect(await ends()).toEqual(before);
  });

  it('refuses malformed requests', async () => {
    const refusals: [string, object, number, string][] = [
      ['areena/events', ada, 404, 'UNKNOWN_BOARD'],
      ['arena/events', { ...ada, board: 'once' }, 400, 'INVALID_REQUEST'],
      ['arena/events', { events: [] }, 400, 'INVALID_REQUEST'],
      ['arena/events', { events: Array(1_001).fill(ada) }, 400, 'INVALID_REQUEST'],
      ['arena/events', { events: [ada], board: 'once' }, 400, 'INVALID_REQUEST'],
      ['arena/events', { events: [1] }, 400, 'INVALID_REQUEST'],
      ['arena/events', [ada], 400, 'INVALID_REQUEST'],
      ['arena/events?wait=rank', { events: [ada, ada] }, 400, 'INVALID_REQUEST'],
      ['arena/events?wait=long', ada, 400, 'INVALID_REQUEST'],
      ['arena/events?timeout=0', ada, 400, 'INVALID_REQUEST'],
      ['arena/events?acks=1', ada, 400, 'UNKNOWN_PARAMETER'],
      ['arena/events', { ...ada, note: 'x'.repeat(1_100_000) }, 413, 'PAYLOAD_TOO_LARGE'],
    ];
    for (const [path, body, status, code] of refusals)
      expect([path, await post(path, body)]).toMatchObject([path, { status, body: { code } }]);
  });

  it('answers in time while Kafka does not, and takes a limited number of events', async () => {
    const proxy = await KafkaProxy.toBroker();
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    const service = await instance.start('--roles', 'query');
    const sendMany = (count: number) =>
      post('arena/events?timeout=1000', { events: Array<object>(count).fill(ada) }, urlOf(service));
    const sendAndWait = (timeout: number) =>
      post(`arena/events?wait=rank&timeout=${timeout}`, ada, urlOf(service));
    expect(await sendAndWait(20_000)).toMatchObject({ status: 200 });
    proxy.freeze();
    expect(await sendAndWait(20)).toMatchObject({ status: 503, body: { code: 'SEND_FAILED' } });
    const sent = await Promise.all(Array.from({ length: 9 }, () => sendMany(1_000)));
    for (const answer of sent)
      expect(answer).toMatchObject({ status: 503, body: { code: 'SEND_FAILED' } });
    const overloaded = { status: 503, body: { code: 'OVERLOADED' } };
    expect(await sendMany(1_000)).toMatchObject(overloaded); // 9,001 are in flight
    expect(await sendMany(999)).toMatchObject({ body: { code: 'SEND_FAILED' } });
    expect(await sendMany(1)).toMatchObject(overloaded);
    expect(await sendAndWait(20)).toMatchObject(overloaded);
    const ban = () => send('PUT', 'arena/bans/zoe', {}, urlOf(service));
    expect(await ban()).toMatchObject(overloaded);
    proxy.thaw();
    await until(async () => (await sendMany(1)).status === 202, 'Kafka has the events');
    await proxy.close();
  });
});

describe('bans and erasures', () => {
  const ban = (path: string, body: object = {}) => send('PUT', path, body);
  const bansOf = async (path: string) => (await send('GET', path)).body;
  const kindOf = async (playerId: string) => (await instance.reader.ban('arena', playerId))?.kind;
  const points = async (playerId: string) => {
    const { standing } = await instance.reader.player('arena', playerId);
    return standing?.columns['points'] ?? null;
  };
  const score = (playerId: string, delta: string) =>
    post('arena/events?wait=rank&timeout=30000', { playerId, delta, attributes: eu });

  it('are off by default, but can be read', async () => {
    for (const [method, path, status] of [
      ['PUT', 'arena/bans/mal', 405],
      ['DELETE', 'arena/bans/mal', 405],
      ['PUT', 'arena/erasures/mal', 404],
      ['GET', 'arena/bans/mal', 200],
      ['GET', 'arena/bans', 200],
    ] as const) {
      const body = method === 'PUT' ? {} : undefined;
      const answer = await send(method, path, body, readOnly);
      expect([path, answer.status]).toEqual([path, status]);
      if (method !== 'GET') expect(answer.body['detail']).toMatch(WRITES_OFF);
    }
  });

  it('take a player off all views and bring the player back, with what was scored meanwhile', async () => {
    await score('mal', '5');
    const { status, body } = await ban('arena/bans/mal', { reason: 'speed hack' });
    expect([status, body]).toEqual([
      202,
      {
        topic: instance.topics.scoreEvents,
        partition: expect.any(Number),
        offset: expect.any(Number),
        time: expect.stringMatching(/^2\d{3}-.*Z$/),
      },
    ]);
    await until(async () => (await points('mal')) === null, 'mal is banned');
    expect(await score('mal', '2')).toMatchObject({
      body: { status: 'unchanged', places: [{ standing: null }, { standing: null }] },
    });
    const { partition, offset, time } = body;
    const entry = {
      playerId: 'mal',
      kind: 'banned',
      reason: 'speed hack',
      partition,
      offset,
      time,
    };
    const kept = (view: string) => {
      return { view, columns: { points: '7' }, reachedAt: expect.any(String) };
    };
    expect(await bansOf('arena/bans/mal')).toEqual({
      ...{ board: 'arena', playerId: 'mal', stale: false, ban: entry },
      kept: expect.arrayContaining([kept('all'), kept('all region=eu')]),
    });
    expect(await bansOf('arena/bans')).toEqual({
      ...{ board: 'arena', stale: false, count: 1, bans: [entry] },
    });

    expect((await send('DELETE', 'arena/bans/mal?reason=a%20mistake')).status).toBe(202);
    await until(async () => (await points('mal')) === '7', 'mal is back');
    expect(await instance.reader.ban('arena', 'mal')).toMatchObject({
      ...{ kind: 'unbanned', reason: 'a mistake' },
    });
    const isListed = async () => (await bansOf('arena/bans'))['count'] === 1; // memory may answer
    await until(async () => !(await isListed()), 'mal is not listed');
  });

  it('list the latest first, page by page', async () => {
    for (const playerId of ['p1', 'p2', 'p3']) {
      await ban(`once/bans/${playerId}`);
      await until(async () => (await instance.reader.ban('once', playerId)) !== null, playerId);
    }
    const first = await bansOf('once/bans?limit=2');
    expect(first).toMatchObject({ count: 3, bans: [{ playerId: 'p3' }, { playerId: 'p2' }] });
    const last = await bansOf(`once/bans?after=${String(first['next'])}`);
    expect(last).toMatchObject({ count: 3, bans: [{ playerId: 'p1' }] });
    expect(last).not.toHaveProperty('next');
  });

  it('delete what the board keeps of an erased player', async () => {
    await score('eve', '5');
    expect((await ban('arena/erasures/eve', { reason: 'asked for it' })).status).toBe(202);
    await until(async () => (await kindOf('eve')) === 'erased', 'eve is erased');
    await score('eve', '5');
    expect(await bansOf('arena/bans/eve')).toMatchObject({
      ban: { kind: 'erased', reason: 'asked for it' },
      kept: [],
    });
  });

  it('refuse an unban without a ban, and all of an erased player, and say what to do', async () => {
    const unban = async (playerId: string) => send('DELETE', `arena/bans/${playerId}`);
    expect(await unban('nobody')).toMatchObject({
      status: 409,
      body: {
        code: 'NOT_BANNED',
        detail: expect.stringMatching(/^player "nobody" is not banned .* try again in a moment$/),
      },
    });
    await ban('arena/erasures/ned');
    await until(async () => (await kindOf('ned')) === 'erased', 'ned is erased');
    const { offset, partition } = (await instance.reader.ban('arena', 'ned')) ?? {};
    const again = () => ban('arena/erasures/ned', { reason: 'another' });
    for (const refused of [await unban('ned'), await ban('arena/bans/ned'), await again()])
      expect(refused).toMatchObject({
        status: 409,
        body: {
          code: 'ERASED',
          detail: expect.stringMatching(
            ` since 20.*Z; .* offset ${offset} of partition ${partition}$`,
          ),
        },
      });
    expect(await kindOf('nobody')).toBeUndefined();
  });

  it('refuse malformed requests, and send nothing', async () => {
    const ends = () => instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    const before = await ends();
    const long = 'x'.repeat(129);
    const refusals: [string, string, object | undefined, number, string][] = [
      ['PUT', 'areena/bans/mal', {}, 404, 'UNKNOWN_BOARD'],
      ['PUT', 'areena/erasures/mal', {}, 404, 'UNKNOWN_BOARD'],
      ['DELETE', 'areena/bans/mal', undefined, 404, 'UNKNOWN_BOARD'],
      ['GET', 'areena/bans', undefined, 404, 'UNKNOWN_BOARD'],
      ['GET', 'areena/bans/mal', undefined, 404, 'UNKNOWN_BOARD'],
      ['PUT', 'arena/bans/mal', { by: 'ana' }, 400, 'UNKNOWN_PARAMETER'],
      ['PUT', 'arena/erasures/mal', { by: 'ana' }, 400, 'UNKNOWN_PARAMETER'],
      ['PUT', 'arena/bans/mal?reason=x', {}, 400, 'UNKNOWN_PARAMETER'],
      ['DELETE', 'arena/bans/mal?by=ana', undefined, 400, 'UNKNOWN_PARAMETER'],
      ['PUT', 'arena/bans/mal', { reason: 7 }, 400, 'INVALID_REQUEST'],
      ['PUT', 'arena/bans/mal', { reason: '' }, 400, 'INVALID_REQUEST'],
      ['PUT', 'arena/bans/mal', { reason: 'x'.repeat(257) }, 400, 'INVALID_REQUEST'],
      ['PUT', 'arena/bans/mal', { reason: 'a\nb' }, 400, 'INVALID_REQUEST'],
      ['PUT', 'arena/bans/mal', undefined, 400, 'INVALID_REQUEST'],
      ['PUT', `arena/bans/${long}`, {}, 400, 'INVALID_REQUEST'],
      ['DELETE', `arena/bans/${long}`, undefined, 400, 'INVALID_REQUEST'],
      ['GET', `arena/bans/${long}`, undefined, 400, 'INVALID_READ'],
      ['GET', 'arena/bans?limit=1001', undefined, 400, 'INVALID_REQUEST'],
      ['GET', 'arena/bans?after=x', undefined, 400, 'INVALID_READ'],
    ];
    for (const [method, path, body, status, code] of refusals)
      expect([method, path, await send(method, path, body)]).toMatchObject([
        ...[method, path],
        { status, body: { code } },
      ]);
    expect(await ban('arena/bans/mal', { by: 'ana' })).toMatchObject({
      body: {
        detail: 'there is no parameter "by" here; use reason; "by" is the name of the token',
      },
    });
    for (const [reason, shown] of [
      ['', '"" of 0 bytes'],
      ['x'.repeat(257), '"x{80}"... of 257 bytes'],
    ] as const)
      expect(await ban('arena/bans/mal', { reason })).toMatchObject({
        body: {
          detail: expect.stringMatching(`^reason must be .*, not ${shown}; nothing was sent$`),
        },
      });
    expect(await ban(`arena/bans/${long}`)).toMatchObject({
      body: { detail: expect.stringMatching(/^playerId must be .*, not .* of 129 bytes; nothing/) },
    });
    expect(await ends()).toEqual(before);
  });

  it('say that entries may be missing while Redis lacks records, and refuse no unban for good', async () => {
    await ban('once/bans/pam');
    await until(async () => (await instance.reader.ban('once', 'pam')) !== null, 'pam is banned');
    await ban('once/erasures/rob');
    await until(async () => (await instance.reader.ban('once', 'rob')) !== null, 'rob is erased');
    ingest.kill('SIGTERM');
    await ingest.ended;
    await instance.redis.unlink(new KeySpace(instance.name).continuity(0));
    expect(await bansOf('once/bans?limit=3')).toMatchObject({ stale: true });
    expect(await bansOf('once/bans/nobody')).toMatchObject({ stale: true, ban: null });
    const unban = async (playerId: string) => {
      const { status, body } = await send('DELETE', `once/bans/${playerId}`);
      return [status, body['code']];
    };
    expect(await unban('nobody')).toEqual([503, 'STALE']);
    expect(await unban('rob')).toEqual([409, 'ERASED']);
    expect(await unban('pam')).toEqual([202, undefined]);
  });
});

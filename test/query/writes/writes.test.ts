import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  readOnly = urlOf(await instance.start('--roles', 'query,ingest,reconciliation'));
  instance.env['RANKLOG_QUERY_WRITES'] = 'true';
  base = urlOf(await instance.start('--roles', 'query'));
});
afterAll(() => instance.remove());

const urlOf = ({ url }: RanklogProcess) => `${url}/v1/boards`;

async function post(path: string, body: object, to = base) {
  const response = await fetch(`${to}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const eu = { region: 'eu' };
const ada = { playerId: 'ada', delta: '5', attributes: eu };

describe('POST /v1/boards/BOARD/events', () => {
  it('is off by default', async () => {
    expect(await post('arena/events', ada, readOnly)).toMatchObject({
      status: 405,
      body: { code: 'METHOD_NOT_ALLOWED' },
    });
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
    const { standing, ...head } = await instance.reader.player('once', 'bob');
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
    const send = (count: number) =>
      post('arena/events?timeout=1000', { events: Array<object>(count).fill(ada) }, urlOf(service));
    const sendAndWait = (timeout: number) =>
      post(`arena/events?wait=rank&timeout=${timeout}`, ada, urlOf(service));
    expect(await sendAndWait(20_000)).toMatchObject({ status: 200 });
    proxy.freeze();
    expect(await sendAndWait(20)).toMatchObject({ status: 503, body: { code: 'SEND_FAILED' } });
    const sent = await Promise.all(Array.from({ length: 9 }, () => send(1_000)));
    for (const answer of sent)
      expect(answer).toMatchObject({ status: 503, body: { code: 'SEND_FAILED' } });
    const overloaded = { status: 503, body: { code: 'OVERLOADED' } };
    expect(await send(1_000)).toMatchObject(overloaded); // 9,001 are in flight
    expect(await send(999)).toMatchObject({ body: { code: 'SEND_FAILED' } });
    expect(await send(1)).toMatchObject(overloaded);
    expect(await sendAndWait(20)).toMatchObject(overloaded);
    proxy.thaw();
    await until(async () => (await send(1)).status === 202, 'Kafka has the events');
    await proxy.close();
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import type { BoardDefinition, Close } from '#board';
import { KeySpace } from '#board-store';
import type { PeriodRecord } from '#contracts';
import { ResultLog } from '../../../src/ingest/result-log.js';
import { PeriodLog } from '../../../src/reconciliation/periods/period-log.js';
import { listPeriods } from '../../../src/reconciliation/periods/period-list.js';
import { PeriodServices } from '../../../src/reconciliation/periods/period-services.js';
import { arena, scored, StoreFixture } from '../../board-store/fixture.js';
import { RUN, Sandbox } from '../../reconciliation/sandbox.js';
import { configure, testKafka } from '../../support/kafka-client.js';
import { TestInstance } from '../../support/instance.js';
import { openApp } from '../reads/app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TODAY = Math.floor(Date.now() / DAY) * DAY;
const GRACE = HOUR;
const REVIEW = 2 * DAY;

const close: Close = { from: TODAY - 30 * DAY, graceMs: GRACE, reviewMs: REVIEW, results: 3 };
const definition: BoardDefinition = {
  ...arena,
  windows: [{ kind: 'all' }, { kind: 'day', keepMs: 15 * DAY, close }],
};
const plain: BoardDefinition = { ...arena, board: 'plain' };

const timeOf = (ms: number) => new Date(ms).toISOString();
const dayOf = (daysAgo: number) => `day:${timeOf(TODAY - daysAgo * DAY).slice(0, 10)}`;

const REVIEWED = { waitsFor: `the end of the review at ${timeOf(TODAY + DAY + GRACE)}` };

/** A period as an answer shows it. */
function period(daysAgo: number, state: string, fields: object = {}) {
  const end = TODAY - (daysAgo - 1) * DAY;
  return {
    window: dayOf(daysAgo),
    state,
    revision: 0,
    start: timeOf(end - DAY),
    end: timeOf(end),
    closesAt: timeOf(end + GRACE),
    reviewEndsAt: timeOf(end + GRACE + REVIEW),
    waitsFor: null,
    ...fields,
  };
}

let instance: TestInstance;
let fixture: StoreFixture;
beforeAll(async () => {
  instance = await TestInstance.create('boards: {}', { partitions: 1 });
  const { admin, name, redis, topics } = instance;
  const known = await admin.listTopics();
  if (!known.includes(topics.periodResults))
    await admin.createTopics({ topics: [{ topic: topics.periodResults }] });
  fixture = await new StoreFixture(redis, new KeySpace(name)).register(definition);
  await fixture.store.registerBoards([plain]);
  const views = [0, 2, 6, 8].map((daysAgo) => ({
    view: dayOf(daysAgo),
    expiresAt: TODAY + (16 - daysAgo) * DAY,
    published: true,
  }));
  await fixture.apply([scored('ada', [5], { occurredAt: TODAY, views })]);
  await using log = await PeriodLog.open(instance, name);
  const done: Omit<PeriodRecord, 'window'> = {
    board: 'arena',
    revision: 0,
    view: null,
    ends: new Map(),
    notedAt: 0,
  };
  await log.write([
    { ...done, window: dayOf(20) },
    { ...done, window: dayOf(8), revision: 2 },
  ]);
});
afterAll(() => instance.remove());

/** The answer of a process that has read nothing before. */
async function get(url: string, kafka: object = instance) {
  const { redis, name } = instance;
  const { app } = await openApp({ redis, prefix: name }, { kafka, group: name });
  try {
    const response = await app.inject({ method: 'GET', url });
    return {
      status: response.statusCode,
      body: response.json<{ periods: { window: string }[] }>(),
    };
  } finally {
    await app.close();
  }
}

const URL_OF_ALL = '/v1/boards/arena/periods';
const UNANNOUNCED = 'the role reconciliation';

async function expectWait(waitsFor: unknown): Promise<void> {
  const { body } = await get(URL_OF_ALL);
  expect(body.periods).toContainEqual(period(6, 'waiting', { waitsFor }));
}

describe('the periods of a board', () => {
  it('wait for topics, for records to be published, and for the announcer', async () => {
    const { admin, kafka, name, topics } = instance;
    const topic = topics.scoreEvents;
    const settings = { 'cleanup.policy': 'delete', 'retention.ms': '-1' };
    await configure(instance, topic, { ...settings, 'message.timestamp.type': 'CreateTime' });
    const producer = kafka.producer();
    await producer.connect();
    const timestamp = String(TODAY - 6 * DAY);
    await producer.send({ topic, messages: [{ value: '{}', timestamp }] });
    await producer.disconnect();
    await expectWait(expect.stringContaining(`topic ${topic} lacks message.timestamp.type`));
    await configure(instance, topic, { ...settings, 'message.timestamp.type': 'LogAppendTime' });
    await expectWait(`${topic}/0 is published up to offset 0, not 1`);
    const partitions = [{ partition: 0, offset: '1' }];
    await admin.setOffsets({ groupId: name, topic, partitions });
    await expectWait(UNANNOUNCED);
  });

  it('are listed with their states, the latest end first', async () => {
    const { body } = await get(URL_OF_ALL);
    const all = [
      period(0, 'open'),
      period(2, 'review', REVIEWED),
      period(6, 'waiting', { waitsFor: UNANNOUNCED }),
      period(8, 'announced', { revision: 2 }),
      period(20, 'missed'),
    ];
    expect(body).toEqual({ board: 'arena', stale: false, periods: all });
    expectSchema(body);
    const latest = await get(`${URL_OF_ALL}?limit=2`);
    expect(latest.body.periods).toEqual(all.slice(0, 2));
  });

  it('are none without closing windows, which asks Kafka nothing', async () => {
    const { status, body } = await get('/v1/boards/plain/periods', {});
    expect([status, body]).toEqual([200, { board: 'plain', stale: false, periods: [] }]);
  });

  it.each([
    ['/v1/boards/nope/periods', 404, 'UNKNOWN_BOARD'],
    [`${URL_OF_ALL}?limit=0`, 400, 'INVALID_REQUEST'],
    [`${URL_OF_ALL}?after=x`, 400, 'UNKNOWN_PARAMETER'],
  ])('refuse %s with %i %s', async (url, status, code) => {
    expect(await get(url)).toMatchObject({ status, body: { code } });
  });

  it('are LOG_UNAVAILABLE while Kafka does not answer', async () => {
    const kafka = testKafka({ brokers: ['127.0.0.1:1'], retry: { retries: 1 } });
    const { topics } = instance;
    const away = { kafka, admin: kafka.admin(), topics };
    const answer = await get(URL_OF_ALL, away);
    expect(answer).toMatchObject({ status: 503, body: { code: 'LOG_UNAVAILABLE' } });
  });

  it('are in the status if they wait, are in review or missed', async () => {
    const shown = [
      period(20, 'missed'),
      period(6, 'waiting', { waitsFor: UNANNOUNCED }),
      period(2, 'review', REVIEWED),
    ].map((fields) => ({ board: 'arena', ...fields }));
    const { body } = await get('/v1/status');
    expect(body.periods).toEqual(shown);
    const printed = JSON.parse(await instance.run('status', '--json')) as typeof body;
    expect(printed.periods).toEqual(shown);
    const text = await instance.run('status');
    expect(text).toContain('Closed windows whose results are not announced; ');
    expect(text).toMatch(
      new RegExp(`^arena +${dayOf(6)} +waiting +\\S+ +\\S+ +${UNANNOUNCED}$`, 'm'),
    );
  });

  it('are marked as stale while Redis may lack events', async () => {
    await fixture.redis.hset(fixture.keys.recoveryTargets(0), 0, 99);
    expect((await get(URL_OF_ALL)).body).toMatchObject({ stale: true });
    await expectWait(expect.stringContaining('lost events of Redis'));
    await fixture.redis.hdel(fixture.keys.recoveryTargets(0), '0');
  });

  it('wait if another Redis server has become the primary since', async () => {
    const { kafka, admin, topics, name } = instance;
    const resultLog = new ResultLog({ kafka, admin, topics }, { group: name }, fixture.store);
    await resultLog.finalPositions([(Date.now() + DAY) * 1_000]);
    await expectWait(expect.stringContaining('that another one has replaced'));
  });

  it('are read again if another generation goes live meanwhile', async () => {
    const sandbox = new Sandbox(instance);
    let reads = 0;
    const pinned = async (name: string) => {
      const board = await sandbox.pinned(name);
      if (reads++ === 0) await sandbox.reconciler.build([definition], RUN);
      return board;
    };
    const { store, continuity, leases } = sandbox;
    const services = new PeriodServices(
      { store, continuity, leases, pinned },
      instance,
      { group: instance.name },
      { clockTolerance: 60_000 },
    );
    const [found] = await listPeriods(services);
    // The log has none of the events, so the new generation has no views and no clock.
    expect(found?.periods.map(({ window }) => window)).toEqual([dayOf(8)]);
    expect(reads).toBe(2);
  });
});

/** Checks an answer against its schema in the OpenAPI document. */
function expectSchema(answer: unknown): void {
  const document = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as object;
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema(document, 'openapi');
  ajv.validate({ $ref: 'openapi#/components/schemas/Periods' }, answer);
  expect(ajv.errors ?? []).toEqual([]);
}

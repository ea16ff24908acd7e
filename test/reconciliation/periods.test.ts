import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Close } from '#board';
import { periodOfRecord, type ScoreEvent } from '#contracts';
import { ProducerFencedError, PublishOutcomeUnknownError } from '#kafka-batch';
import { PeriodLog } from '../../src/reconciliation/periods/period-log.js';
import type { PeriodAnnouncer } from '../../src/reconciliation/periods/period-announcer.js';
import { PERIODS_LEASE, PeriodServices } from '../../src/reconciliation/periods/period-services.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { readCommitted } from '../support/results.js';
import {
  CLOSES_AT,
  DAY,
  event,
  NEXT_WINDOW,
  nextDaysEvent,
  PeriodScene,
  TOLERANCE_MS,
  WINDOW,
} from './period-scene.js';
import { RUN } from './sandbox.js';

const EVENTS = [
  event('ada', 5),
  event('bob', 9, 'us'),
  event('cy', 5),
  event('dan', 1),
  event('ada', 2),
];
const EU = `${WINDOW} region=eu`;
const US = `${WINDOW} region=us`;
const NEXT_ONCE = [`${NEXT_WINDOW} 1`, `${NEXT_WINDOW} region=eu 1`];
const ALL_ONCE = [`${EU} 1`, `${US} 1`, `${WINDOW} 1`].sort();

let scene: PeriodScene;
const open = async (...args: Parameters<typeof PeriodScene.open>) =>
  (scene = await PeriodScene.open(...args));
const begin = (close?: Partial<Close>) => scene.begin(close);

/**
 * Opens a scene for some tests, each of which begins it again. Those that send events come last.
 */
function share(events: readonly ScoreEvent[]): void {
  beforeAll(() => open(events));
  afterAll(() => scene.close());
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** Turns until the announcer says for what it waits, a minute and more after it noted the ends. */
async function waiting(announcer: PeriodAnnouncer): Promise<string> {
  const now = jest.spyOn(PeriodServices.prototype, 'now');
  now.mockResolvedValue(Date.now() + 120_000);
  const reason = await announcer.turn(RUN.signal).then(() => 'it does not wait', String);
  now.mockRestore();
  return reason;
}

async function turnsUntilAnnounced(announcer: PeriodAnnouncer): Promise<void> {
  await eventually(async () => {
    await announcer.turn(RUN.signal);
    return (await scene.record())?.revision === 1;
  }, 'the window is announced');
}

/** Runs `work` before the next announcer reads the first view. */
function onFirstRead(work: () => Promise<unknown>): void {
  const { sandbox } = scene;
  const pinned = sandbox.pinned.bind(sandbox);
  let isDone = false;
  jest.spyOn(sandbox, 'pinned').mockImplementation(async (name) => {
    const board = await pinned(name);
    const top = board.top.bind(board);
    jest.spyOn(board, 'top').mockImplementation(async (...args) => {
      if (!isDone) {
        isDone = true;
        await work();
      }
      return top(...args);
    });
    return board;
  });
}

/** Fails the next announcer after its first transaction. */
function failAfterWrite(error: Error): void {
  const openLog = PeriodLog.open.bind(PeriodLog);
  jest.spyOn(PeriodLog, 'open').mockImplementationOnce(async (...args) => {
    const log = await openLog(...args);
    const write = log.write.bind(log);
    jest.spyOn(log, 'write').mockImplementation(async (records, results = []) => {
      await write(records, results);
      if (results.length > 0) throw error;
    });
    return log;
  });
}

/** Lets the services say that it is this time. */
function setTime(services: PeriodServices, ms: number): void {
  jest.spyOn(services, 'now').mockResolvedValue(ms);
}

const place = (playerId: string, rank: number, points: string, competitionRank = rank) => ({
  playerId,
  rank,
  competitionRank,
  columns: { points },
});

describe('with the events of a day,', () => {
  share(EVENTS);

  describe('an announcer', () => {
    it('completes what a command has begun', async () => {
      await begin({ reviewMs: 'manual' });
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      await announcer.turn(RUN.signal);
      const record = await scene.record();
      expect(record).toMatchObject({ revision: 0 });
      await using log = await PeriodLog.open(scene.instance, scene.instance.name);
      await log.write([{ ...record!, revision: 1, view: WINDOW }]);
      await eventually(async () => {
        await announcer.turn(RUN.signal);
        return (await scene.announced()).length > 0;
      }, 'the announcement is complete');
      expect(await scene.announced()).toEqual(ALL_ONCE.filter((one) => one !== `${WINDOW} 1`));
    });

    it('looks again at a board that had no closing window meanwhile', async () => {
      const reviewMs = Date.now() + DAY - CLOSES_AT;
      await begin({ reviewMs });
      const services = scene.services();
      const { live } = await scene.sandbox.store.boards();
      const known = { live };
      const announcer = scene.announcerOf(services, known);
      await announcer.turn(RUN.signal);
      known.live = new Map();
      await announcer.turn(RUN.signal);
      expect(await scene.gauge('ranklog_period_overdue_seconds')).toBeUndefined();
      known.live = live;
      await announcer.turn(RUN.signal);
      expect(await scene.gauge('ranklog_period_overdue_seconds')).toBe(0);
      setTime(services, CLOSES_AT + reviewMs);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('does nothing while another one holds the lease', async () => {
      await begin();
      const { leases } = scene.sandbox;
      const lease = await leases.acquire(PERIODS_LEASE, 'somebody else');
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual([]);
      await leases.release(lease);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('announces nothing twice, also if several work at once without a lease', async () => {
      await begin();
      const { leases } = scene.sandbox;
      const free = { board: PERIODS_LEASE, token: 'each has one' };
      jest.spyOn(leases, 'acquire').mockResolvedValue(free);
      jest.spyOn(leases, 'renew').mockResolvedValue(undefined);
      for (let round = 0; round < 3; round++) {
        const turns = Array.from({ length: 4 }, () => scene.turn());
        await Promise.allSettled(turns);
      }
      await scene.turn();
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('that was frozen past its lease, between its reads and its transaction, publishes nothing', async () => {
      await begin();
      const { redis, keys, leases } = scene.sandbox;
      jest.spyOn(leases, 'renew').mockResolvedValue(undefined); // a frozen process renews nothing
      onFirstRead(async () => {
        await redis.del(keys.lease(0, PERIODS_LEASE));
        await scene.turn();
        expect(await scene.announced()).toEqual(ALL_ONCE);
      });
      await expect(scene.turn()).rejects.toBeInstanceOf(ProducerFencedError);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('finds out what was committed after a commit with an unknown outcome', async () => {
      await begin();
      const lost = new PublishOutcomeUnknownError('periods', new Error('the reply was lost'));
      failAfterWrite(lost);
      const announcer = await scene.announcer();
      await expect(announcer.turn(RUN.signal)).rejects.toBe(lost);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('sends no request for boards without closing windows', async () => {
      await begin();
      const services = scene.services();
      const boards = jest.spyOn(scene.sandbox.store, 'boards');
      const live = await scene.sandbox.live('arena');
      boards.mockClear();
      const definition = { ...scene.definition, windows: [{ kind: 'day' } as const] };
      const known = { live: new Map([['arena', { ...live, definition }]]) };
      const announcer = scene.announcerOf(services, known);
      const clock = jest.spyOn(services, 'now');
      await announcer.turn(RUN.signal);
      expect([boards, clock].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    });
  });

  describe('a closed window', () => {
    it('is announced once: the top of each view, with ranks, size, times and generation', async () => {
      await begin();
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      const { generation } = await scene.sandbox.live('arena');
      const start = new Date(CLOSES_AT - 25 * 3_600_000).toISOString();
      const end = new Date(CLOSES_AT - 3_600_000).toISOString();
      const head = { board: 'arena', generation, window: WINDOW, start, end, revision: 1 };
      const results = await scene.results();
      expect(results.sort((a, b) => (a.view < b.view ? -1 : 1))).toEqual([
        {
          ...head,
          view: WINDOW,
          size: 4,
          results: [place('bob', 1, '9'), place('ada', 2, '7'), place('cy', 3, '5')],
        },
        {
          ...head,
          view: EU,
          size: 3,
          results: [place('ada', 1, '7'), place('cy', 2, '5'), place('dan', 3, '1')],
        },
        { ...head, view: US, size: 1, results: [place('bob', 1, '9')] },
      ]);
      for (let turn = 0; turn < 3; turn++) await announcer.turn(RUN.signal);
      await scene.turn();
      expect(await scene.announced()).toEqual(ALL_ONCE);
      expect(await scene.record()).toMatchObject({ revision: 1, view: null });
      expect(scene.logs).toEqual([`board "arena": announced ${WINDOW}, revision 1, 3 views`]);
      expect(await scene.gauge('ranklog_period_overdue_seconds')).toBe(0);
    });

    it('leaves the definitions as they are for their readers', async () => {
      await begin();
      const { definitions, words } = scene.sandbox;
      const before = await definitions.readAll();
      const warnings = new Set(words);
      await scene.turn();
      expect(await definitions.readAll()).toEqual(before);
      expect(await definitions.repair()).toEqual([]);
      expect(new Set(words)).toEqual(warnings);
    });

    it('is not announced again after a rebuild, a rollback, or a restart', async () => {
      await begin();
      await scene.turn();
      await scene.build();
      await scene.turn();
      await scene.sandbox.reconciler.rollback('arena', RUN);
      await scene.turn();
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('is not announced while reads are stale', async () => {
      await begin();
      const { redis, keys } = scene.sandbox;
      const continuity = (await redis.get(keys.continuity(0))) ?? '';
      await redis.del(keys.continuity(0));
      // A listing that lacks views would go unnoticed if Redis recovers before they are read.
      onFirstRead(() => redis.set(keys.continuity(0), continuity));
      const announcer = await scene.announcer();
      await expect(announcer.turn(RUN.signal)).rejects.toThrow('reads of board "arena" are stale');
      expect(await scene.announced()).toEqual([]);
      jest.restoreAllMocks();
      await redis.set(keys.continuity(0), continuity);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('is not announced from a read that was stale, although the listing before it was not', async () => {
      await begin();
      const { redis, keys } = scene.sandbox;
      const continuity = (await redis.get(keys.continuity(0))) ?? '';
      onFirstRead(() => redis.del(keys.continuity(0)));
      await expect(scene.turn()).rejects.toThrow('stale');
      expect(await scene.announced()).toEqual([]);
      await redis.set(keys.continuity(0), continuity);
      await scene.turn();
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('is announced from one generation: a promotion meanwhile interrupts it', async () => {
      await begin();
      onFirstRead(() => scene.build());
      await expect(scene.turn()).rejects.toThrow('another generation went live');
      expect(await scene.announced()).toEqual([]);
      await scene.turn();
      const { generation } = await scene.sandbox.live('arena');
      expect(new Set((await scene.results()).map((one) => one.generation))).toEqual(
        new Set([generation]),
      );
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('waits for its review by the clock', async () => {
      const reviewMs = Date.now() + DAY - CLOSES_AT;
      await begin({ reviewMs });
      const services = scene.services();
      const announcer = await scene.announcer(services);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual([]);
      const { ends } = (await scene.record()) ?? {};
      jest.spyOn(services, 'now').mockResolvedValue(CLOSES_AT + reviewMs);
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
      expect(await scene.record()).toMatchObject({ revision: 1, ends });
    });

    it('is closed by the earlier one of two clocks', async () => {
      await begin();
      const services = scene.services();
      const { store } = scene.sandbox;
      const server = jest.spyOn(store, 'serverTime');
      const own = jest.spyOn(Date, 'now');
      for (const [ownMs, serverMs] of [
        [7_000, 8_000],
        [8_000, 7_000],
      ] as const) {
        own.mockReturnValue(ownMs);
        server.mockResolvedValue(serverMs * 1_000 + 999);
        expect(await services.now()).toBe(7_000);
      }
      jest.restoreAllMocks();
      jest.spyOn(store, 'serverTime').mockResolvedValue((CLOSES_AT + TOLERANCE_MS) * 1_000);
      await scene.turn(services);
      expect(await scene.announced()).toEqual([]);
      jest.restoreAllMocks();
      await scene.turn(services);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it('is not announced if producers have dated records since its ends were reached', async () => {
      const reviewMs = Date.now() + DAY - CLOSES_AT;
      await begin({ reviewMs });
      const services = scene.services();
      const announcer = await scene.announcer(services);
      await announcer.turn(RUN.signal);
      await scene.stampsBy('CreateTime');
      setTime(services, CLOSES_AT + reviewMs);
      await expect(announcer.turn(RUN.signal)).rejects.toThrow('LogAppendTime');
      expect(await scene.announced()).toEqual([]);
      await scene.stampsBy('LogAppendTime');
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    it.each([
      ['the broker does not stamp records', 'LogAppendTime'],
      ['there is no topic for results', 'no topic'],
    ])('is not announced while %s', async (_, words) => {
      await begin();
      const { admin, topics } = scene.instance;
      if (words === 'LogAppendTime') await scene.stampsBy('CreateTime');
      else await admin.deleteTopics({ topics: [topics.periodResults] });
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      expect(await waiting(announcer)).toContain(words);
      if (words === 'LogAppendTime') await scene.stampsBy('LogAppendTime');
      else await scene.createResults();
      await turnsUntilAnnounced(announcer);
      expect(await scene.announced()).toEqual(ALL_ONCE);
    });

    // From here on, the log is longer.

    it('waits until all records below the end of the log are published, and counts them', async () => {
      await begin();
      await scene.stampsBy('CreateTime');
      await scene.send([event('eve', 100)]); // stamped before the day has closed, read after it
      await scene.stampsBy('LogAppendTime');
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      expect(await scene.announced()).toEqual([]);
      expect(await waiting(announcer)).toMatch(/score-events\/\d is published up to offset/);
      const ingest = await scene.instance.start('--roles', 'ingest');
      await scene.published();
      ingest.kill('SIGKILL'); // the next test has events that are not published
      await ingest.ended;
      await turnsUntilAnnounced(announcer);
      expect(await scene.announced()).toEqual(ALL_ONCE);
      const [first] = (await scene.results()).filter(({ view }) => view === WINDOW);
      expect(first).toMatchObject({ size: 5, results: [{ playerId: 'eve' }, {}, {}] });
    });

    it('is not announced if records that are not published were deleted from the log', async () => {
      await begin();
      const { admin, topics } = scene.instance;
      await scene.send([event('eve', 100)]);
      const ends = await admin.fetchTopicOffsets(topics.scoreEvents);
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
      await admin.deleteTopicRecords({ topic: topics.scoreEvents, partitions });
      const announcer = await scene.announcer();
      await announcer.turn(RUN.signal);
      expect(await waiting(announcer)).toMatch(/the log begins at \d+, so records are lost/);
      expect(await scene.announced()).toEqual([]);
    });
  });
});

describe('with the events of two days, a closed window', () => {
  share([...EVENTS, nextDaysEvent('ada', 1)]);

  it('has its record in one partition, whatever is added to the definitions topic', async () => {
    await begin({ reviewMs: 'manual' });
    const { admin, topics } = scene.instance;
    await scene.turn();
    const before = await admin.fetchTopicOffsets(topics.definitions);
    await admin.createPartitions({ topicPartitions: [{ topic: topics.definitions, count: 5 }] });
    await scene.build(scene.definitionWith({ reviewMs: 0 }));
    await eventually(async () => {
      await scene.turn();
      return (await scene.announced()).length > 0;
    }, 'the windows are announced');
    await scene.turn();
    expect(await scene.announced()).toEqual([...ALL_ONCE, ...NEXT_ONCE].sort());
    const records = await readCommitted(scene.instance.kafka, topics.definitions);
    expect(before).toHaveLength(1);
    const ofWindows = records.filter((record) => periodOfRecord(record) !== undefined);
    expect(new Set(ofWindows.map(({ partition }) => partition))).toEqual(new Set([0]));
  });

  it('waits for transactions that were open when it had closed, also if they are aborted', async () => {
    await begin();
    const { kafka, topics } = scene.instance;
    const producer = kafka.producer({
      transactionalId: `${scene.instance.name}-late`,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    const value = JSON.stringify(event('eve', 100));
    await transaction.send({ topic: topics.scoreEvents, messages: [{ partition: 1, value }] });
    const announcer = await scene.announcer();
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual([]);
    const late = await waiting(announcer);
    expect(late).toMatch(/score-events\/1 is open at offset \d+, below \d+/);
    expect(await scene.gauge('ranklog_period_overdue_seconds')).toBeGreaterThan(DAY / 2_000);
    await transaction.abort();
    await producer.disconnect();
    await turnsUntilAnnounced(announcer);
    expect(await scene.announced()).toEqual([...ALL_ONCE, ...NEXT_ONCE].sort());
  });

  it('waits for no record that came after it had closed, if another window closes meanwhile', async () => {
    await begin();
    const services = scene.services();
    const announcer = await scene.announcer(services);
    jest.spyOn(services.logEnds, 'missing').mockResolvedValueOnce('not published yet');
    setTime(services, CLOSES_AT + TOLERANCE_MS + 1);
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual([]);
    await scene.send([event('eve', 1)]); // ingest is stopped
    setTime(services, CLOSES_AT + DAY + TOLERANCE_MS + 1);
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual(ALL_ONCE);
  });
});

describe('with a scene of its own,', () => {
  afterEach(() => scene.close());

  it('is announced after a loss of Redis once all is applied again, with the same results', async () => {
    await open(EVENTS, { ownRedis: await RedisServer.start() });
    const announcer = await scene.announcer();
    await scene.sandbox.redis.flushall();
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual([]);
    await scene.instance.start();
    await eventually(async () => {
      // Errors are expected until the board is registered again and has recovered.
      await announcer.turn(RUN.signal).catch(() => undefined);
      return (await scene.announced()).length > 0;
    }, 'the window is announced');
    expect(await scene.announced()).toEqual(ALL_ONCE);
    const [first] = (await scene.results()).filter(({ view }) => view === WINDOW);
    const top = [place('bob', 1, '9'), place('ada', 2, '7'), place('cy', 3, '5')];
    expect(first).toMatchObject({ size: 4, results: top });
  });

  it('stays until its review is over, and is missed if it expires before that', async () => {
    await open(EVENTS, { keep: '2d', close: { reviewMs: 'manual' } });
    const announcer = await scene.announcer();
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual([]);
    expect(await scene.record()).toMatchObject({ revision: 0, view: null });
    expect(await scene.gauge('ranklog_period_overdue_seconds')).toBe(0);
    expect(await scene.gauge('ranklog_periods_missed')).toBe(0);
    await scene.instance.start('--roles', 'ingest');
    await scene.send([{ ...event('eve', 1), occurredAt: new Date().toISOString() }]);
    await scene.published();
    const later = await scene.announcer(); // as after a restart
    await later.turn(RUN.signal);
    expect(await scene.announced()).toEqual([]);
    expect(await scene.gauge('ranklog_periods_missed')).toBe(1);
  });

  it('is missed if it expires while something else keeps it from being announced', async () => {
    await open(EVENTS, { keep: '2d' });
    await scene.stampsBy('CreateTime');
    const services = scene.services();
    const announcer = await scene.announcer(services);
    await announcer.turn(RUN.signal);
    expect(await scene.record()).toMatchObject({ revision: 0, view: null });
    expect(await scene.gauge('ranklog_periods_missed')).toBe(0);
    await scene.instance.start('--roles', 'ingest');
    await scene.send([{ ...event('eve', 1), occurredAt: new Date().toISOString() }]);
    await scene.published();
    setTime(services, Date.now() + 61_000);
    await announcer.turn(RUN.signal);
    expect(await scene.gauge('ranklog_periods_missed')).toBe(1);
    expect(await scene.announced()).toEqual([]);
  });

  it('goes on behind the last transaction of one that died, with more views than one takes', async () => {
    const regions = Array.from({ length: 1_100 }, (_, index) => `r${index}`);
    await open(regions.map((region) => event('ada', 1, region)));
    failAfterWrite(new Error('died'));
    await expect(scene.turn()).rejects.toThrow('died');
    expect(await scene.announced()).toHaveLength(1_000);
    const { view } = (await scene.record()) ?? {};
    expect(view).toMatch(/ region=r/);
    await scene.turn();
    const views = [WINDOW, ...regions.map((region) => `${WINDOW} region=${region}`)];
    expect(await scene.announced()).toEqual(views.map((one) => `${one} 1`).sort());
    expect(await scene.record()).toMatchObject({ revision: 1, view: null });
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { parseBoardsFile } from '#board';
import {
  ModerationProducer,
  RankChangeSubscriber,
  ScoreProducer,
  type PlaceReader,
  type RankChange,
  type SendOutcome,
} from '#client';
import { encodeRankChange, type Source } from '#contracts';
import { logRanges } from '#kafka-batch';
import { RUN, Sandbox } from '../reconciliation/sandbox.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { testKafka } from '../support/kafka-client.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readCommitted, readDeadLetters } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }] }
  records: { columns: [{ name: best, update: best }] }
  once: { columns: [{ name: points }], deduplicate: 24h }
  quiet: { columns: [{ name: points }], publish: { rankChanges: none } }
  ranks: { columns: [{ name: points }], publish: { rankChanges: moved } }
  weekly: { columns: [{ name: points }], windows: [all, week], publish: { windows: [week] } }
`;
const SOON = { timeoutMs: 60_000 };
const COORDINATOR_NOT_AVAILABLE = 15;
const LONGER_THAN_A_TEST_MS = 3_600_000;

let instance: TestInstance;
let service: RanklogProcess;
let producer: ScoreProducer;
const send = (board: string, playerId: string, delta: string, eventId?: string) =>
  producer.sendAndWait({ board, playerId, delta, ...(eventId !== undefined && { eventId }) }, SOON);

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  service = await instance.start();
  producer = newProducer();
  await producer.connect();
});
afterAll(async () => {
  await producer.disconnect();
  await instance.remove();
});

function newProducer(): ScoreProducer {
  const { kafka, name } = instance;
  // The definitions topic names the group.
  return new ScoreProducer({ kafka, topicPrefix: name });
}

const changeOf = (outcome: SendOutcome): RankChange => {
  if (outcome.status !== 'ranked') throw new Error(`the outcome is ${outcome.status}`);
  return outcome.change;
};

describe('sendAndWait', () => {
  it('resolves with the rank change of the event', async () => {
    const first = await send('arena', 'ada', '5');
    expect(first).toMatchObject({
      status: 'ranked',
      change: { playerId: 'ada', changes: [{ before: null, after: { columns: { points: '5' } } }] },
    });
    expect(changeOf(await send('arena', 'ada', '2')).changes).toMatchObject([
      { before: { columns: { points: '5' } }, after: { columns: { points: '7' } } },
    ]);
  });

  it.each([Infinity, 2 ** 40])('waits for a time limit of %p', async (timeoutMs) => {
    const event = { board: 'arena', playerId: 'eve', delta: '1' };
    expect(await producer.sendAndWait(event, { timeoutMs })).toMatchObject({ status: 'ranked' });
  });

  it.each([NaN, -1])('refuses a time limit of %p', async (timeoutMs) => {
    const event = { board: 'arena', playerId: 'eve', delta: '1' };
    await expect(producer.sendAndWait(event, { timeoutMs })).rejects.toThrow(
      `timeoutMs is ${timeoutMs}; it must be 0 or more`,
    );
  });

  it('resolves with the dead letter of the event', async () => {
    const outcome = await send('nowhere', 'ada', '5');
    expect(outcome).toMatchObject({ status: 'deadLetter', letter: { code: 'UNKNOWN_BOARD' } });
    const [written] = await readDeadLetters(instance.kafka, instance.topics);
    expect(written).toMatchObject(outcome.status === 'deadLetter' ? outcome.letter : {});
  });

  it('is `unchanged` for an event that changes nothing', async () => {
    expect(await send('records', 'ada', '10')).toMatchObject({ status: 'ranked' });
    expect(await send('records', 'ada', '9')).toEqual({ status: 'unchanged' });
    expect(await send('once', 'ada', '1', 'e-1')).toMatchObject({ status: 'ranked' });
    expect(await send('once', 'ada', '1', 'e-1')).toEqual({ status: 'unchanged' });
  });

  it('has the present places with a reader, unless it fails or does not answer in time', async () => {
    const { reader, kafka, name } = instance;
    const outcomeOf = async (placesOfEvent: PlaceReader['placesOfEvent'], timeoutMs = 60_000) => {
      const options = { kafka, topicPrefix: name, ranklogGroup: name };
      const own = new ScoreProducer({
        ...options,
        reader: { placesOfEvent, board: (board) => reader.board(board) },
      });
      await own.connect();
      try {
        return await own.sendAndWait(
          { board: 'records', playerId: 'zoe', delta: '3' },
          { timeoutMs },
        );
      } finally {
        await own.disconnect();
      }
    };
    const read: PlaceReader['placesOfEvent'] = (event, time) => reader.placesOfEvent(event, time);
    expect(await outcomeOf(read)).toMatchObject({ status: 'ranked' });
    const standing = expect.objectContaining({ columns: { best: '3' } });
    expect(await outcomeOf(read)).toEqual({
      status: 'unchanged',
      places: [expect.objectContaining({ view: 'all', playerId: 'zoe', standing })],
    });
    const failed = await outcomeOf(() => Promise.reject(new Error('Redis is gone')));
    expect(failed).toEqual({ status: 'unchanged' });
    const late = await outcomeOf(() => new Promise(() => undefined), LONGER_THAN_A_TEST_MS);
    expect(late).toEqual({ status: 'unchanged' });
  });

  it.each(['ban', 'erase'] as const)(
    'says after a call of %s that the player has no published place',
    async (method) => {
      const { reader, kafka, name } = instance;
      const event = { board: 'arena', playerId: `mal-${method}`, delta: '5' };
      const own = new ScoreProducer({ kafka, topicPrefix: name, ranklogGroup: name, reader });
      await own.connect();
      try {
        expect(await own.sendAndWait(event, SOON)).toMatchObject({ status: 'ranked' });
        await new ModerationProducer({ producer: own, reader })[method](event);
        expect(await own.sendAndWait(event, SOON)).toEqual({
          status: 'unchanged',
          places: [expect.objectContaining({ view: 'all', standing: null })],
        });
        expect(await send('arena', event.playerId, '5')).toEqual({ status: 'unchanged' });
      } finally {
        await own.disconnect();
      }
    },
  );

  it('brings a player back after an unban, with what was scored meanwhile', async () => {
    const { reader } = instance;
    const player = { board: 'arena', playerId: 'ben' };
    const moderation = new ModerationProducer({ producer, reader });
    expect(await send('arena', 'ben', '5')).toMatchObject({ status: 'ranked' });
    await moderation.ban(player);
    expect(await send('arena', 'ben', '2')).toEqual({ status: 'unchanged' });
    await moderation.unban(player);
    expect(changeOf(await send('arena', 'ben', '1')).changes).toMatchObject([
      { before: { columns: { points: '7' } }, after: { columns: { points: '8' } } },
    ]);
  });

  it('reads the places at the time of the record, by the clock of the broker, not at that of the call', async () => {
    const proxy = await KafkaProxy.toBroker();
    const times: number[] = [];
    const placesOfEvent: PlaceReader['placesOfEvent'] = (_, time) => {
      times.push(time);
      return Promise.resolve([]);
    };
    const { name } = instance;
    const own = new ScoreProducer({
      kafka: testKafka({ brokers: [proxy.broker] }),
      topicPrefix: name,
      ranklogGroup: name,
      reader: { placesOfEvent, board: (board) => instance.reader.board(board) },
    });
    try {
      await own.connect();
      expect(await send('records', 'tim', '5')).toMatchObject({ status: 'ranked' });
      proxy.freeze();
      const called = Date.now();
      const outcome = own.sendAndWait({ board: 'records', playerId: 'tim', delta: '1' }, SOON);
      await until(() => Date.now() > called, 'the clock has moved');
      const thawed = Date.now();
      proxy.thaw();
      expect(await outcome).toEqual({ status: 'unchanged', places: [] });
      const { kafka, topics } = instance;
      const records = await readCommitted(kafka, topics.scoreEvents);
      const ofTim = records.filter(({ key }) => key?.toString() === 'tim');
      expect(times).toEqual([ofTim.at(-1)?.timestamp]);
      expect(times[0]).toBeGreaterThanOrEqual(thawed);
    } finally {
      await own.disconnect();
      await proxy.close();
    }
  });

  it.each(['quiet', 'ranks', 'weekly'])(
    'is `unpublished` without a rank change of a board that does not publish all (%s)',
    async (board) => {
      const outcomes = [await send(board, 'ada', '1'), await send(board, 'ada', '1', 'e-2')];
      const last = await send(board, 'ada', '0');
      expect(last).toEqual({ status: 'unpublished' });
      expect(outcomes.map(({ status }) => status)).toEqual(
        { quiet: ['unpublished', 'unpublished'], ranks: ['ranked', 'unpublished'] }[board] ?? [
          'ranked',
          'ranked',
        ],
      );
    },
  );

  it('gives many concurrent calls what a subscriber gets, through kills of ingest', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const received = new Map<string, RankChange>();
    const subscriber = new RankChangeSubscriber({
      kafka: instance.kafka,
      groupId: `${instance.name}-compared`,
      topicPrefix: instance.name,
    });
    await subscriber.start((change) => void received.set(causeOf(change), change));
    const player = () => `p-${Math.floor(random() * 50)}`;
    const outcomes: SendOutcome[] = [];
    const waits = Array.from({ length: 1_000 }, async (_, n) => {
      await until(() => outcomes.length > n - 400, 'earlier calls are done');
      outcomes.push(await send('arena', player(), String(1 + Math.floor(random() * 9))));
    });
    for (const goal of [100, 400]) {
      await until(() => outcomes.length >= goal, `${goal} calls are done`);
      service.kill('SIGKILL');
      await service.ended;
      service = await instance.start();
    }
    await Promise.all(waits);
    const changes = outcomes.map(changeOf);
    await until(() => changes.every((change) => received.has(causeOf(change))), 'all are received');
    await subscriber.stop();
    expect(new Set(changes.map(causeOf)).size).toBe(1_000);
    for (const change of changes) expect(received.get(causeOf(change))).toEqual(change);
  });

  it('leaves no connection open if the producer disconnects while it asks for offsets', async () => {
    const proxy = await KafkaProxy.toBroker();
    const { name } = instance;
    const own = new ScoreProducer({
      kafka: testKafka({ brokers: [proxy.broker] }),
      topicPrefix: name,
      ranklogGroup: name,
    });
    // kafkajs asks again after a pause, during which the producer disconnects.
    const fault = { error: COORDINATOR_NOT_AVAILABLE, executed: false };
    const refused = proxy.onRequest(KAFKA_API.findCoordinator, fault, { times: 3 });
    expect(await send('records', 'liz', '5')).toMatchObject({ status: 'ranked' });
    // No result: only the offsets show that the event was applied.
    const event = { board: 'records', playerId: 'liz', delta: '1' };
    const outcome = own.sendAndWait(event, SOON);
    outcome.catch(() => undefined); // awaited below
    await until(() => refused.hits > 0, 'the offsets are asked for');
    await own.disconnect();
    await expect(outcome).rejects.toThrow('the producer was disconnected');
    await until(() => refused.isDone, 'it was asked again');
    await until(() => proxy.connections === 0, 'all connections are closed', 20);
    await proxy.close();
  });

  it('rejects after its time limit with the place of the event, and leaves no connection open', async () => {
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const other = newProducer();
    await other.connect();
    await other.send([{ board: 'arena', playerId: 'ada', delta: '1' }]);
    const before = sockets();
    service.kill('SIGKILL');
    await service.ended;
    const event = { board: 'arena', playerId: 'bob', delta: '1' };
    await expect(other.sendAndWait(event, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'RESULT_UNKNOWN',
      at: { topic: instance.topics.scoreEvents, offset: expect.any(Number) },
      message: expect.stringMatching(
        /score-events\/\d at offset \d+ \(board arena, player bob\) is unknown: no result after 5000 ms\. Kafka has the record/,
      ),
    });
    await until(() => sockets() <= before, 'the connections of the wait are closed');
    service = await instance.start();
    expect(await other.sendAndWait(event, SOON)).toMatchObject({ status: 'ranked' });
    await other.disconnect();
  });

  it('rejects when the producer is disconnected', async () => {
    service.kill('SIGKILL');
    await service.ended;
    const other = newProducer();
    await other.connect();
    const waiting = other.sendAndWait({ board: 'arena', playerId: 'cyd', delta: '1' }, SOON);
    const outcome = expect(waiting).rejects.toThrow('the producer was disconnected');
    await other.disconnect();
    await outcome;
    service = await instance.start();
  });
});

describe('sendAndWait between a promotion and its record in the definitions topic', () => {
  let other: TestInstance;
  afterEach(() => other.remove());

  it('is `unpublished` with a reader, as Redis has the definition', async () => {
    const arena = (publish = '') => `boards: { arena: { columns: [{ name: points }]${publish} } }`;
    other = await TestInstance.create(arena());
    const both = await other.start();
    await until(async () => (await other.reader.boards()).length === 1, 'the board is live');
    both.kill('SIGKILL');
    await both.ended;
    await other.start('--roles', 'ingest'); // the role reconciliation would write the record
    const { kafka, name, reader } = other;
    const calls = new ScoreProducer({ kafka, topicPrefix: name, ranklogGroup: name, reader });
    await calls.connect();
    const event = { board: 'arena', playerId: 'ada', delta: '1' };
    expect(await calls.sendAndWait(event, SOON)).toMatchObject({ status: 'ranked' });

    const builder = new Sandbox(other);
    builder.definitions.write = () => Promise.resolve();
    const quiet = parseBoardsFile(arena(', publish: { rankChanges: none }'), 'quiet.yaml');
    await builder.reconciler.build(quiet, RUN);
    expect(await calls.sendAndWait(event, SOON)).toMatchObject({
      status: 'unpublished',
      places: [{ standing: { columns: { points: '2' } } }],
    });
    await calls.disconnect();
  });
});

describe('sendAndWait behind records of the definitions topic that it can not read', () => {
  const RECORDS = [
    ...['no JSON', 'null', '7', '{"board":"x"}', null].map((value) => ({ key: 'x', value })),
    { key: 'records', value: 'no JSON' },
    { key: '\u0000identity', value: 'no JSON' },
  ];

  it('gives each event its outcome, and logs where they are', async () => {
    const { kafka, name, topics } = instance;
    const other = kafka.producer();
    await other.connect();
    const places = await other.send({ topic: topics.definitions, messages: RECORDS });
    await other.disconnect();
    const [{ partition, baseOffset } = {}] = places;
    const warnings: string[] = [];
    const logged = testKafka({
      brokers: (instance.env['KAFKA_BROKERS'] ?? '').split(','),
      logLevel: kafkajs.logLevel.WARN,
      logCreator:
        () =>
        ({ log: { message } }) =>
          void warnings.push(message),
    });
    const calls = new ScoreProducer({ kafka: logged, topicPrefix: name, ranklogGroup: name });
    await calls.connect();
    const event = { board: 'records', playerId: 'amy', delta: '3' };
    expect(await calls.sendAndWait(event, SOON)).toMatchObject({ status: 'ranked' });
    expect(await calls.sendAndWait(event, SOON)).toEqual({ status: 'unchanged' });
    await calls.disconnect();
    const first = `${topics.definitions}/${partition} offset ${baseOffset} is not a ranklog.definition`;
    expect(warnings).toContainEqual(expect.stringContaining(first));
  });
});

describe('sendAndWait beside an open transaction of results', () => {
  let unserved: TestInstance; // without a service, whose part the test takes
  beforeAll(async () => {
    unserved = await TestInstance.create(BOARDS);
  });
  afterAll(() => unserved.remove());

  const changeAt = (source: Source): RankChange => {
    const after = { rank: 1, competitionRank: 1, columns: { points: '1' } };
    const changes = [{ view: 'all', version: 1, before: null, after }];
    const [generation, occurredAt] = ['1763629200000000-0a1b', '2026-11-20T09:00:00.000Z'];
    return { board: 'arena', generation, playerId: 'ada', source, occurredAt, changes };
  };

  it('waits for its end, while the waits of other partitions have their outcomes', async () => {
    const { kafka, admin, name, topics } = unserved;
    const calls = new ScoreProducer({ kafka, topicPrefix: name, ranklogGroup: name });
    const results = kafka.producer({ transactionalId: `${name}-results`, retry: { retries: 20 } });
    const ends = async () =>
      [...(await logRanges(kafka, topics.scoreEvents))].flatMap(([partition, { end }]) =>
        end === 0 ? [] : [[partition, end] as const],
      );
    const call = async (playerId: string) => {
      const before = new Map(await ends());
      const answer = calls.sendAndWait({ board: 'arena', playerId, delta: '1' }, SOON);
      answer.catch(() => undefined); // it rejects only when a step below failed
      const sent = async () => (await ends()).find(([at, end]) => end !== (before.get(at) ?? 0));
      await until(async () => (await sent()) !== undefined, `the event of ${playerId} is sent`);
      const [partition, end] = (await sent()) ?? [NaN, NaN];
      return { answer, at: { topic: topics.scoreEvents, partition, offset: end - 1 } };
    };
    try {
      await Promise.all([calls.connect(), results.connect()]);
      const ada = await call('ada');
      let other = await call('p-0');
      for (let n = 1; other.at.partition === ada.at.partition; n++) other = await call(`p-${n}`);
      const transaction = await results.transaction();
      const { partition } = ada.at;
      const { changes, ...others } = changeAt(ada.at);
      const change = { partition, ...encodeRankChange(others, JSON.stringify(changes)) };
      await transaction.send({ topic: topics.rankChanges, messages: [change] });
      const partitions = (await ends()).map(([at, end]) => ({
        partition: at,
        offset: String(end),
      }));
      await admin.setOffsets({ groupId: name, topic: topics.scoreEvents, partitions });
      const first = await Promise.race([ada.answer, other.answer.then(() => 'the other')]);
      expect(first).toBe('the other');
      expect(await other.answer).toEqual({ status: 'unpublished' });
      await transaction.commit();
      expect(changeOf(await ada.answer)).toEqual(changeAt(ada.at));
    } finally {
      await Promise.all([calls.disconnect(), results.disconnect()]);
    }
  });
});

describe('send', () => {
  it('names the event that Kafka refuses, and how many others it has acknowledged', async () => {
    const big = 'x'.repeat(3_000_000);
    const events = Array.from({ length: 5 }, (_, n) => ({
      board: 'arena',
      playerId: 'dan',
      delta: '1',
      ...(n === 3 && { note: big }),
    }));
    await expect(producer.send(events)).rejects.toMatchObject({
      code: 'SEND_FAILED',
      topic: instance.topics.scoreEvents,
      first: { index: 3, playerId: 'dan' },
      acknowledged: 3,
      cause: expect.objectContaining({ type: 'MESSAGE_TOO_LARGE' }),
      message: expect.stringMatching(
        /^sending to \S+ failed at event 3 \(player dan\), 3 events are acknowledged: .*larger than the max/,
      ),
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Scene } from '../reconciliation/sandbox.js';
import { readDeadLetters } from '../support/results.js';
import { configure, letProducersDate } from '../support/kafka-client.js';

const boards = (notAfter = '') => `
boards:
  arena:
    columns: [{ name: points }, { name: level, update: latest }]
    windows: [all, { window: day, keep: 30d }]
    deduplicate: 24h
    ${notAfter}
`;
const FAR = Date.parse('2100-01-01T00:00:00Z');
const DAY = 'day:2026-11-20';
const EVENTS = [
  ['2026-11-20T09:00:00Z', 1, 1, 'a'],
  ['2026-11-20T10:00:00Z', 2, 2, 'b'],
  ['2026-11-20T10:00:00Z', 2, 2, 'b'],
  ['2026-11-20T11:00:00Z', 4, 3, 'c'],
  ['2026-11-20T12:00:00Z', 8, 4, 'd'],
] as const;
const event = (serial: number) => {
  const [occurredAt, points, level, eventId] = EVENTS[serial]!;
  const deltas = { points: `${points}`, level: `${level}` };
  return { board: 'arena', playerId: 'ada', occurredAt, eventId, deltas };
};

describe('one event dated 2100', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(boards(), event, { partitions: 1 });
  });
  afterAll(() => scene.close());

  const publish = async (count: number) => {
    await scene.traffic.send(count);
    await scene.instance.run('status', '--wait', '60');
  };
  /** An event without a time of its own, from a producer whose clock is wrong. */
  const sendFarAhead = async () => {
    const { kafka, topics } = scene.instance;
    const producer = kafka.producer();
    await producer.connect();
    const deltas = { points: '100', level: '99' };
    const value = JSON.stringify({ board: 'arena', playerId: 'ada', deltas });
    const messages = [{ key: 'ada', value, timestamp: `${FAR}` }];
    await producer
      .send({ topic: topics.scoreEvents, messages })
      .finally(() => producer.disconnect());
  };
  const standing = async (view: string) => {
    const { entries } = await scene.instance.reader.standings('arena', { view });
    return entries.map(({ columns }) => columns);
  };
  const expectHarm = async () => {
    await expect(standing(DAY)).rejects.toThrow(/expired/);
    expect(await standing('all')).toEqual([{ points: '105', level: '99' }]);
    expect(await scene.json('status')).toMatchObject({
      boards: [{ clock: '2100-01-01T00:00:00.000Z' }],
    });
  };

  it('is refused by the broker if producers date the records, within the bound that ranklog has set', async () => {
    const { instance } = scene;
    await letProducersDate(instance, instance.topics.scoreEvents);
    await expect(sendFarAhead()).rejects.toThrow(/timestamp/i);
  });

  it('ends views, also in a rebuild, until notAfter excludes the event', async () => {
    const { instance } = scene;
    // The settings of a topic that an earlier version of "ranklog topics" made on Kafka 3.
    await configure(instance, instance.topics.scoreEvents, {
      'retention.ms': '-1',
      'message.timestamp.after.max.ms': '9223372036854775807',
    });
    await scene.start();
    await publish(1);
    await sendFarAhead();
    await publish(2); // "b" counts twice: the event ids that deduplicate kept have expired
    await expectHarm();

    await instance.run('boards', 'rebuild', 'arena');
    await expectHarm();

    await scene.writeBoards(boards('notAfter: 2099-12-31'));
    const applied = await instance.run('boards', 'apply', '--yes', '--allow-left-out');
    expect(applied).toMatch(/notAfter: .* -> 2099-12-31T00:00:00\.000Z/);
    const back = [{ points: '3', level: '2' }];
    expect(await standing(DAY)).toEqual(back);
    expect(await standing('all')).toEqual(back);
    expect(await scene.json('boards', 'verify')).toMatchObject([{ equal: true }]);

    await publish(1);
    await sendFarAhead();
    await publish(1);
    expect(await standing(DAY)).toEqual([{ points: '15', level: '4' }]);
    const letters = await readDeadLetters(instance.kafka, instance.topics);
    expect(letters.map(({ code }) => code)).toEqual(['TOO_FAR_AHEAD']);
    await instance.run('boards', 'rebuild', 'arena');
    expect(await standing(DAY)).toEqual([{ points: '15', level: '4' }]);
  });
});

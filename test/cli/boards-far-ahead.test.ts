import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readDeadLetters } from '../support/results.js';
import { configure } from '../support/kafka-client.js';
import { BoardsSandbox } from './boards-sandbox.js';

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
const event = (occurredAt: string, points: number, level: number, eventId: string) => ({
  ...{ board: 'arena', playerId: 'ada', occurredAt, eventId },
  deltas: { points: `${points}`, level: `${level}` },
});

describe('one event dated 2100', () => {
  let sandbox: BoardsSandbox;
  beforeEach(async () => {
    sandbox = await BoardsSandbox.create(boards(), { partitions: 1 });
  });
  afterEach(() => sandbox.remove());

  /** An event without a time of its own, from a producer whose clock is wrong. */
  const sendFarAhead = async () => {
    const { kafka, topics } = sandbox.instance;
    const producer = kafka.producer();
    await producer.connect();
    const value = JSON.stringify({
      ...{ board: 'arena', playerId: 'ada' },
      deltas: { points: '100', level: '99' },
    });
    const messages = [{ key: 'ada', value, timestamp: `${FAR}` }];
    try {
      await producer.send({ topic: topics.scoreEvents, messages });
    } finally {
      await producer.disconnect();
    }
  };
  /** As a topic is that "ranklog topics" of an earlier version made on Kafka 3. */
  const takeAnyDate = () =>
    configure(sandbox.instance, sandbox.instance.topics.scoreEvents, {
      'retention.ms': '-1',
      'message.timestamp.after.max.ms': '9223372036854775807',
    });
  const standing = async (view: string) => {
    const { entries } = await sandbox.instance.reader.standings('arena', view, {
      offset: 0,
      limit: 10,
    });
    return entries.map(({ columns }) => columns);
  };
  const expectHarm = async () => {
    await expect(standing(DAY)).rejects.toThrow(/expired/);
    expect(await standing('all')).toEqual([{ points: '105', level: '99' }]);
    const status = await sandbox.json<{ boards: { clock: string }[] }>('status');
    expect(status.boards).toMatchObject([{ clock: '2100-01-01T00:00:00.000Z' }]);
  };

  it('is refused by the broker, in a topic that ranklog has made', async () => {
    await expect(sendFarAhead()).rejects.toThrow(/timestamp/i);
  });

  it('ends views for good, also in a rebuild, until notAfter leaves it out', async () => {
    const { instance } = sandbox;
    await takeAnyDate();
    await instance.start();
    await sandbox.publish([event('2026-11-20T09:00:00Z', 1, 1, 'a')]);
    await sendFarAhead();
    await sandbox.publish([
      event('2026-11-20T10:00:00Z', 2, 2, 'b'),
      event('2026-11-20T10:00:00Z', 2, 2, 'b'), // deduplicate is off: what it remembers is past the span
    ]);
    await expectHarm();

    expect((await sandbox.ranklog('boards', 'rebuild', 'arena')).code).toBe(0);
    await expectHarm();

    await sandbox.writeBoards(boards('notAfter: 2099-12-31'));
    const applied = await sandbox.ranklog('boards', 'apply', '--yes');
    expect(applied.code).toBe(0);
    expect(applied.out).toMatch(/notAfter: .* -> 2099-12-31T00:00:00\.000Z/);
    const back = [{ points: '3', level: '2' }];
    expect(await standing(DAY)).toEqual(back);
    expect(await standing('all')).toEqual(back);
    expect(await sandbox.json('boards', 'verify')).toMatchObject([{ equal: true }]);

    await sandbox.publish([event('2026-11-20T11:00:00Z', 4, 3, 'c')]);
    await sendFarAhead();
    await sandbox.publish([event('2026-11-20T12:00:00Z', 8, 4, 'd')]);
    expect(await standing(DAY)).toEqual([{ points: '15', level: '4' }]);
    const letters = await readDeadLetters(instance.kafka, instance.topics);
    expect(letters.map(({ code }) => code)).toEqual(['TOO_FAR_AHEAD']);
    expect((await sandbox.ranklog('boards', 'rebuild', 'arena')).code).toBe(0);
    expect(await standing(DAY)).toEqual([{ points: '15', level: '4' }]);
  });
});

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Message } from 'kafkajs';
import { decodePlayerRecord, type PlayerRecord, type Source } from '#contracts';
import { InvalidPlayerRecordError } from './client-errors.js';
import { ModerationProducer } from './moderation-producer.js';

const NOW = Date.parse('2026-11-20T09:00:00Z');
const BAN = { board: 'arena', playerId: 'p-17', reason: 'speed hack', by: 'ana' };

let sent: Message[];
/** The time of the record that counts for each player; its place is that of `at`. */
let present: Map<string, number>;
const at = { partition: 0, offset: 0 };
/** The applied offset of partition 0, at each look; the last one stays. */
let applied: number[];
/** How many players are looked up at the moment, and the most so far. */
let lookUps: { now: number; most: number };

const producer = new ModerationProducer({
  producer: { sendMessages: (messages) => Promise.resolve(placesOf(messages)) },
  reader: {
    ban: async (_, playerId) => {
      lookUps.now += 1;
      lookUps.most = Math.max(lookUps.most, lookUps.now);
      await new Promise(setImmediate);
      lookUps.now -= 1;
      const time = present.get(playerId);
      return time === undefined ? null : { ...at, time };
    },
    appliedOffsets: () => {
      const next = applied.length > 1 ? applied.shift() : applied[0];
      return Promise.resolve(new Map([[0, next ?? -1]]));
    },
  },
  source: '/ranklog/test',
});

function placesOf(messages: readonly Message[]): ReadonlyMap<Message, Source> {
  const places = messages.map((message, index): [Message, Source] => {
    return [message, { topic: 'ranklog.score-events', partition: 0, offset: sent.length + index }];
  });
  sent.push(...messages);
  return new Map(places);
}

const decoded = ({ key, value, headers }: Message, timestamp = NOW) => {
  const record = { key: Buffer.from(String(key)), value: Buffer.from(String(value)), timestamp };
  const decoding = decodePlayerRecord({ ...record, headers: headers ?? {} });
  if (decoding?.ok !== true) throw new Error(`refused: ${JSON.stringify(decoding)}`);
  return decoding.playerRecord;
};

beforeEach(() => {
  sent = [];
  present = new Map();
  applied = [-1];
  lookUps = { now: 0, most: 0 };
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a moderation producer', () => {
  it.each([
    ['ban', 'banned'],
    ['unban', 'unbanned'],
    ['erase', 'erased'],
  ] as const)('sends the record of a call of %s, and returns its place', async (method, kind) => {
    const place = await producer[method](BAN);
    const at = { topic: 'ranklog.score-events', partition: 0, offset: 0 };
    expect(place).toEqual({ ...at, time: NOW });
    expect(sent.map((message) => decoded(message))).toEqual([{ ...BAN, kind, occurredAt: NOW }]);
    expect(sent[0]).toMatchObject({ key: 'p-17', headers: { ce_source: '/ranklog/test' } });
  });

  it.each([
    ['now, for a player without one', undefined, NOW],
    ['now, after an earlier one', NOW - 1, NOW],
    ['just after one of now', NOW, NOW + 1],
    ['just after one by a clock that is ahead', NOW + 60_000, NOW + 60_001],
  ])('dates a record %s', async (_, time, expected) => {
    if (time !== undefined) present.set('p-17', time);
    await producer.unban(BAN);
    expect(sent.map((message) => decoded(message).occurredAt)).toEqual([expected]);
  });

  it('sends many, each with an id of its own, and looks up at most 100 players at once', async () => {
    present.set('p-7', NOW);
    const records = Array.from({ length: 250 }, (_, n) => ({ ...BAN, playerId: `p-${n}` }));
    const places = await producer.send('banned', records);
    expect(places.map(({ offset }) => offset)).toEqual([...records.keys()]);
    expect(sent.map((message) => decoded(message).playerId)).toEqual(
      records.map(({ playerId }) => playerId),
    );
    expect(sent.map((message) => decoded(message).occurredAt - NOW)).toEqual(
      records.map(({ playerId }) => Number(playerId === 'p-7')),
    );
    expect(new Set(sent.map(({ headers }) => String(headers?.['ce_id']))).size).toBe(250);
    expect(lookUps.most).toBe(100);
  });

  it('sends none if one of them is wrong, and names it', async () => {
    const wrong = { ...BAN, reason: 'x'.repeat(257) };
    const refusal = producer.send('banned', [BAN, wrong]);
    await expect(refusal).rejects.toThrow(InvalidPlayerRecordError);
    await expect(refusal).rejects.toMatchObject({
      code: 'INVALID_PLAYER_RECORD',
      index: 1,
      message: expect.stringMatching(/^reason must be .* in record 1; no record was sent$/),
    });
    expect(sent).toEqual([]);
  });

  it.each([{ ...BAN, board: '' }, { board: 'arena' }, null, 'p-17'])(
    'refuses %j',
    async (record) => {
      await expect(producer.ban(record as PlayerRecord)).rejects.toThrow(InvalidPlayerRecordError);
      expect(sent).toEqual([]);
    },
  );

  it('sends nothing if the present record cannot be read', async () => {
    const reader = {
      ban: () => Promise.reject(new Error('Redis is gone')),
      appliedOffsets: () => Promise.resolve(new Map<number, number>()),
    };
    const own = new ModerationProducer({
      producer: { sendMessages: (messages) => Promise.resolve(placesOf(messages)) },
      reader,
    });
    await expect(own.ban(BAN)).rejects.toThrow('Redis is gone');
    expect(sent).toEqual([]);
  });

  it.each([
    ['banAndWait', 'banned'],
    ['unbanAndWait', 'unbanned'],
    ['eraseAndWait', 'erased'],
  ] as const)('waits in %s until the record is applied', async (method, kind) => {
    present.set('p-17', NOW - 1);
    applied = [-1, -1, 0, 9];
    const place = await producer[method](BAN, { timeoutMs: 60_000 });
    expect(place).toMatchObject({ offset: 0, time: NOW, counts: true });
    expect(sent.map((message) => decoded(message).kind)).toEqual([kind]);
    expect(applied).toEqual([9]);
  });

  it('says which of the applied records count, and which are not applied in time', async () => {
    present.set('p-17', NOW).set('p-18', NOW);
    applied = [1];
    const records = ['p-17', 'p-18', 'p-19'].map((playerId) => ({ ...BAN, playerId }));
    const answers = await producer.sendAndWait('banned', records, { timeoutMs: 0 });
    expect(answers.map(({ counts }) => counts)).toEqual([true, false, null]);
  });

  it('fails if the record is not applied in time, also if it counts by then', async () => {
    present.set('p-17', NOW);
    await expect(producer.banAndWait(BAN, { timeoutMs: 5 })).rejects.toMatchObject({
      code: 'RESULT_UNKNOWN',
      at: { partition: 0, offset: 0 },
      message: expect.stringContaining('not applied after 5 ms. Kafka has the record'),
    });
    await expect(producer.banAndWait(BAN, { timeoutMs: NaN })).rejects.toThrow(RangeError);
    expect(sent).toHaveLength(1);
  });
});

import { describe, expect, it, jest } from '@jest/globals';
import kafkajs, { type Kafka, type Message, type ProducerConfig } from 'kafkajs';
import { decodeScoreEvent, type ScoreEvent } from '#contracts';
import { InvalidScoreEventError } from './client-errors.js';
import { ScoreProducer } from './score-producer.js';

const kafka = new kafkajs.Kafka({ brokers: ['nowhere:1'], logLevel: kafkajs.logLevel.NOTHING });
const producer = new ScoreProducer({ kafka, source: '/arena' });

const EVENT = {
  board: 'arena',
  playerId: 'p-17',
  delta: '12',
  eventId: 'e-1',
  attributes: { guild: ['red', 'blue'], team: [], region: 'eu' },
} satisfies ScoreEvent;

describe('the message of a score event', () => {
  it('has the player as key and the event unchanged, also with lists in attributes', () => {
    const { key, value, headers = {} } = producer.toMessage(JSON.stringify(EVENT));
    expect(key).toBe('p-17');
    expect(headers).toMatchObject({ ce_id: 'e-1', ce_source: '/arena' });
    expect(
      decodeScoreEvent({ key: null, value: Buffer.from(value ?? ''), headers: {} }),
    ).toStrictEqual({ ok: true, event: EVENT });
  });

  it('is refused with the code of the dead letter and the path of the invalid value', () => {
    const wrong = { ...EVENT, attributes: { guild: ['red', ''] } };
    let refusal: unknown;
    try {
      producer.toMessage(JSON.stringify(wrong));
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidScoreEventError);
    const { code, detail } = refusal as InvalidScoreEventError;
    expect(code).toBe('INVALID_ATTRIBUTES');
    expect(detail).toContain('attributes.guild[1] is ""');
  });

  it('names its index, its player and the way out when it is one of a list, and nothing is sent', async () => {
    const { kafka: fake, sends } = fakeClient();
    const events = [EVENT, { ...EVENT, delta: '1e3' }];
    await expect(new ScoreProducer({ kafka: fake }).send(events)).rejects.toMatchObject({
      code: 'INVALID_NUMBER',
      position: { topic: 'ranklog.score-events', index: 1, playerId: 'p-17' },
      message: expect.stringMatching(
        /in event 1 \(player "p-17"\) for ranklog\.score-events; no event was sent\. .*Send a decimal string/,
      ),
    });
    expect(sends).toEqual([]);
  });
});

/**
 * A fake client with 3 partitions. `sends` lists, for each send, the partitions of its messages;
 * `connects` has one item for each call of `connect`.
 */
function fakeClient(): { kafka: Kafka; sends: number[][]; connects: null[] } {
  const connects: null[] = [];
  const sends: number[][] = [];
  const partitionMetadata = [0, 1, 2].map((partitionId) => ({ partitionId, leader: 1 }));
  const client = {
    logger: () => ({ namespace: () => undefined }),
    admin: () => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      listTopics: () => Promise.resolve(['ranklog.score-events']),
    }),
    producer: ({ createPartitioner }: ProducerConfig) => ({
      connect: () => {
        connects.push(null);
        return Promise.resolve();
      },
      send: ({ topic, messages }: { topic: string; messages: Message[] }) => {
        const choose = createPartitioner?.();
        const placeOf = (message: Message) =>
          choose?.({ topic, partitionMetadata, message } as Parameters<typeof choose>[0]) ?? -1;
        sends.push(messages.map(placeOf));
        return Promise.resolve([]);
      },
    }),
  };
  return { kafka: client as unknown as Kafka, sends, connects };
}

describe('sending events', () => {
  it('puts messages of one partition only into a send: of several partitions, kafkajs may lose or repeat messages', async () => {
    const { kafka, sends } = fakeClient();
    const events = Array.from({ length: 30 }, (_, i) => ({ ...EVENT, playerId: `p-${i}` }));
    await new ScoreProducer({ kafka }).send(events);
    expect(sends.flat()).toHaveLength(30);
    expect(new Set(sends.flat()).size).toBe(3);
    for (const places of sends) expect(new Set(places).size).toBe(1);
  });

  it('connects once, as kafkajs would begin a second idempotent session', async () => {
    const { kafka, connects } = fakeClient();
    const producer = new ScoreProducer({ kafka });
    await Promise.all([producer.send(EVENT), producer.connect(), producer.send(EVENT)]);
    expect(connects).toHaveLength(1);
  });

  it('says where it expects Kafka if nothing answers there', async () => {
    const own = { brokers: ['127.0.0.1:1'], logLevel: kafkajs.logLevel.NOTHING };
    const kafka = new kafkajs.Kafka({ ...own, retry: { retries: 0 } });
    await expect(new ScoreProducer({ kafka }).connect()).rejects.toMatchObject({
      name: 'KafkaUnreachableError',
      message: expect.stringMatching(
        /^Kafka did not answer within \d+ ms: .*\. Is Kafka running at 127\.0\.0\.1:1\? Else correct the brokers/,
      ),
    });
  });

  it('limits its retries without a warning', () => {
    const log = jest.fn();
    const kafka = new kafkajs.Kafka({ brokers: ['nowhere:1'], logCreator: () => log });
    const create = jest.spyOn(kafka, 'producer');
    expect(new ScoreProducer({ kafka }).inFlight).toBe(0);
    const retry = { initialRetryTime: 100, retries: 10 };
    expect(create.mock.calls).toMatchObject([[{ idempotent: true, retry }]]);
    expect(log).not.toHaveBeenCalled();
  });

  it('takes one event, too', async () => {
    const { kafka, sends } = fakeClient();
    await new ScoreProducer({ kafka }).send(EVENT);
    expect(sends.flat()).toHaveLength(1);
  });
});

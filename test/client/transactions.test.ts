import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer, TransactionFailedError, type ScoreEvent } from '#client';
import { partitionOf, ProducerFencedError, RecordTooLargeError } from '#kafka-batch';
import { TestInstance, until } from '../support/instance.js';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { readCommitted } from '../support/results.js';

const BOARDS = `
boards:
  kills: { columns: [{ name: points }] }
  wins: { columns: [{ name: points }] }
`;
const PARTITIONS = 4;
const IN_ONE = { transaction: true };

let instance: TestInstance;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
  await instance.start();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => instance.remove());

/** A producer with this transactional id, or none. */
function newProducer(id: string | undefined, kafka = instance.kafka): ScoreProducer {
  const transactionalId = id && `${instance.name}-${id}`;
  const ids = transactionalId === undefined ? {} : { transactionalId };
  const producer = new ScoreProducer({ kafka, topicPrefix: instance.name, ...ids });
  closers.push(() => producer.disconnect());
  return producer;
}

/** A producer whose requests go through a proxy. */
async function proxiedProducer(id: string) {
  const proxy = await KafkaProxy.toBroker();
  closers.push(() => proxy.close());
  const producer = newProducer(id, testKafka({ brokers: [proxy.broker] }));
  return { proxy, producer };
}

/** The players of the committed events of a test, in the order of their partitions. */
async function committed(...ids: readonly string[]): Promise<string[]> {
  await transactionsEnded(instance.kafka, ...ids.map((id) => `${instance.name}-${id}`));
  const records = await readCommitted(instance.kafka, instance.topics.scoreEvents);
  const players = records.map(({ key }) => key?.toString() ?? '');
  return players.filter((player) => ids.some((id) => player.startsWith(`${id}-`)));
}

/** Events of players in all partitions. */
const events = (test: string, count = 8): ScoreEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ board: 'kills', playerId: `${test}-${index}`, delta: 1 },
  }));
const playersOf = (list: readonly ScoreEvent[]) => list.map(({ playerId }) => playerId).sort();

describe('a send in one transaction', () => {
  it('puts events of several boards and players into Kafka, where ranklog applies them', async () => {
    const sent: ScoreEvent[] = [
      { board: 'kills', playerId: 'both-0', delta: 3 },
      { board: 'wins', playerId: 'both-0', delta: 1 },
      ...events('both', 6).slice(1),
    ];
    const places = await newProducer('both').send(sent, IN_ONE);
    expect(places.map(({ partition }) => partition)).toEqual(
      sent.map(({ playerId }) => partitionOf(playerId, PARTITIONS)),
    );
    const log = await readCommitted(instance.kafka, instance.topics.scoreEvents);
    for (const [index, { partition, offset }] of places.entries()) {
      const record = log.find((one) => one.partition === partition && one.offset === offset);
      expect(JSON.parse(record?.value?.toString() ?? '')).toEqual(sent[index]);
    }

    const points = async (board: string) =>
      (await instance.reader.player(board, 'both-0')).standing?.columns;
    await until(async () => (await points('wins')) !== undefined, 'the events are applied');
    expect([await points('kills'), await points('wins')]).toEqual([
      { points: '3' },
      { points: '1' },
    ]);
  });

  it('waits for the transactions before it', async () => {
    const producer = newProducer('queue');
    const sends = Array.from({ length: 20 }, (_, index) =>
      producer.send(
        ['a', 'b'].map((name) => ({
          ...{ board: 'kills', playerId: `queue-${name}`, delta: index + 1 },
        })),
        IN_ONE,
      ),
    );
    const places = await Promise.all(sends);
    for (const event of [0, 1]) {
      const offsets = places.map((pair) => pair[event]?.offset ?? NaN);
      expect(offsets).toEqual(offsets.toSorted((one, other) => one - other));
    }
    expect(await committed('queue')).toHaveLength(40);
  });

  it('leaves nothing in Kafka if one event is refused, and the next send works', async () => {
    const producer = newProducer('large');
    const large = { ...events('large', 1)[0]!, ignored: 'x'.repeat(2_000_000) };
    const failed = producer.send([...events('large'), large], IN_ONE);
    await expect(failed).rejects.toMatchObject({
      constructor: TransactionFailedError,
      code: 'TRANSACTION_FAILED',
      cause: expect.any(RecordTooLargeError),
    });
    expect(await committed('large')).toEqual([]);
    const next = events('large', 3);
    await producer.send(next, IN_ONE);
    expect((await committed('large')).sort()).toEqual(playersOf(next));
  });

  it('leaves nothing in Kafka if its process dies before the commit, and the next process goes on', async () => {
    const { proxy, producer } = await proxiedProducer('killed');
    const commit = proxy.onRequest(KAFKA_API.endTxn, 'hangBefore');
    const first = producer.send(events('killed'), IN_ONE);
    first.catch(() => undefined); // fails when the proxy closes
    await until(() => commit.hits === 1, 'all events are sent and none is committed');
    await proxy.close();

    const next = events('killed', 3);
    await newProducer('killed').send(next, IN_ONE);
    expect((await committed('killed')).sort()).toEqual(playersOf(next));
  });

  it('fails if the answer of the commit is lost, and Kafka has all events', async () => {
    const { proxy, producer } = await proxiedProducer('lost');
    proxy.onRequest(KAFKA_API.endTxn, 'swallowReply');
    const sent = events('lost');
    await expect(producer.send(sent, IN_ONE)).rejects.toThrow(
      'Kafka has all of its events or none',
    );
    expect((await committed('lost')).sort()).toEqual(playersOf(sent));
  });

  it('fails while another producer has the same transactional id, and says so', async () => {
    const [first, second] = [newProducer('shared'), newProducer('shared')];
    await first.send(events('shared', 1), IN_ONE);
    await second.send(events('shared', 2), IN_ONE);
    const fenced = first.send(events('shared', 3), IN_ONE);
    await expect(fenced).rejects.toMatchObject({ cause: expect.any(ProducerFencedError) });
    await first.send(events('shared', 3), IN_ONE);
    expect(await committed('shared')).toHaveLength(1 + 2 + 3);
  });

  it('needs a transactional id and a producer that is not disconnected', async () => {
    await expect(newProducer(undefined).send(events('none'), IN_ONE)).rejects.toThrow(
      'a transaction needs the option transactionalId',
    );
    const producer = newProducer('ended');
    expect(await producer.send([], IN_ONE)).toEqual([]);
    await producer.send(events('ended', 1), IN_ONE);
    await producer.disconnect();
    await expect(producer.send(events('ended'), IN_ONE)).rejects.toThrow('is disconnected');
    expect(producer.inFlight).toBe(0);
    expect(await committed('ended', 'none')).toHaveLength(1);
  });
});

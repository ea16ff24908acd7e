import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import {
  decodeDefinitionRecord,
  encodeDefinitionRecord,
  topicNames,
  type DefinitionRecord,
} from '#contracts';
import { IdentityCheck, type Identity } from '#board-store';
import { DefinitionsTopic } from '../../src/infra/definitions-topic.js';
import { arena } from '../board-store/fixture.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { testKafka } from '../support/kafka-client.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { loggerTo } from '../support/loggers.js';
import { readCommitted } from '../support/results.js';

/** The definitions in a topic of this name, whatever it is. */
function definitionsIn(
  { kafka, admin, name }: Pick<TestTopic, 'kafka' | 'admin' | 'name'>,
  identity: Partial<Identity> = {},
  log: (message: string) => unknown = () => undefined,
): DefinitionsTopic {
  const connection = { kafka, admin, topics: { ...topicNames(''), definitions: name } };
  return new DefinitionsTopic(connection, new IdentityCheck(identity), loggerTo(log));
}

describe('the definitions topic', () => {
  let topic: TestTopic;
  let definitions: DefinitionsTopic;
  let warnings: string[];
  beforeEach(async () => {
    topic = await TestTopic.create(3, { 'cleanup.policy': 'compact' });
    warnings = [];
    definitions = definitionsIn(topic, { group: 'g1' }, (message) => warnings.push(message));
  });
  afterEach(() => topic.remove());

  const current = (board: string, since: number, fields: Partial<DefinitionRecord> = {}) => ({
    board,
    generation: `${since}-0a1b2c3d4e5f`,
    since,
    definition: { ...arena, board },
    ...fields,
  });
  const byBoard = (...records: readonly DefinitionRecord[]) =>
    new Map(records.map((record) => [record.board, record]));
  /** Sends records as they are, to the partitions that they name. */
  const send = async (messages: readonly kafkajs.Message[]) => {
    const { DefaultPartitioner } = kafkajs.Partitioners;
    const producer = topic.kafka.producer({ createPartitioner: DefaultPartitioner });
    await producer.connect();
    await producer.send({ topic: topic.name, messages: [...messages] });
    await producer.disconnect();
  };

  it('is empty at first, then returns what was written to any partition, also removals and the offsets at which boards begin', async () => {
    await definitions.write([]);
    expect(await definitions.readAll()).toEqual(new Map());
    expect(await readCommitted(topic.kafka, topic.name)).toEqual([]);
    const records = [
      ...Array.from({ length: 20 }, (_, index) => current(`board-${index}`, 1 + index)),
      current('arena', 1, { starts: new Map([[2, 41_205]]) }),
      current('other', 2, { definition: null }),
    ];
    await definitions.write(records);
    expect(await definitions.readAll()).toEqual(byBoard(...records));
    const written = await readCommitted(topic.kafka, topic.name);
    expect(new Set(written.map(({ partition }) => partition)).size).toBe(3);
  });

  it('waits for an open transaction, as no record behind it can be read', async () => {
    await definitions.write([current('arena', 1)]);
    const transactionalId = `${topic.name}-open`;
    const producer = topic.kafka.producer({ transactionalId, maxInFlightRequests: 1 });
    await producer.connect();
    const open = await producer.transaction();
    for (const partition of [0, 1, 2])
      await open.send({ topic: topic.name, messages: [{ partition, key: '\u0000x', value: '' }] });
    const changed = current('arena', 2, { definition: null });
    await definitions.write([changed]);
    const read = definitions.readAll();
    let isRead = false;
    read.then(
      () => (isRead = true),
      () => undefined,
    );
    await definitions.write([current('other', 3)]); // some requests later
    const wasRead = isRead;
    await open.abort();
    await producer.disconnect();
    expect(wasRead).toBe(false);
    expect((await read).get('arena')).toEqual(changed);
  });

  it('takes the latest promotion of a board, whichever record was written last', async () => {
    const [old, now] = [current('arena', 5), current('arena', 7, { definition: null })];
    await definitions.write([old]);
    await definitions.write([now]);
    await definitions.write([old]);
    expect(await definitions.readAll()).toEqual(byBoard(now));
    const again = current('arena', 7);
    await definitions.write([again]);
    expect(await definitions.readAll()).toEqual(byBoard(again));
  });

  it('gets the current record of a board again if an older one follows it, because compaction would keep only the older one', async () => {
    const [old, now] = [current('arena', 5), current('arena', 7)];
    await definitions.write([current('other', 8), current('other', 9), old, now]);
    expect(await definitions.repair()).toEqual([]);
    await definitions.write([old]);
    expect(await definitions.repair()).toEqual(['arena']);
    const records = await readCommitted(topic.kafka, topic.name);
    const ofArena = records.filter(({ key }) => key?.toString() === 'arena');
    expect(ofArena.map((record) => decodeDefinitionRecord(record))).toEqual([old, now, old, now]);
    expect(await definitions.repair()).toEqual([]);
    expect(await definitions.repair()).toEqual([]);
  });

  it('leaves out aborted transactions, and, with a warning, records that can not be read', async () => {
    const record = current('arena', 5);
    await definitions.write([record]);
    const later = encodeDefinitionRecord(current('arena', 9), topic.name);
    await send([
      { partition: 0, key: 'arena', value: 'hello' },
      { partition: 1, key: 'arena', value: null },
      { partition: 2, key: 'arena', value: later.value.replace('"ties"', '"tie"') },
      { ...later, partition: 2, key: 'other' },
    ]);
    expect(await definitions.readAll()).toEqual(byBoard(record));
    expect(warnings).toHaveLength(3);
    for (const warning of warnings)
      expect(warning).toMatch(
        /.+\/[02] offset \d+ is not a ranklog.definition.v1: \S.*; the record is skipped$/,
      );
    const producer = topic.kafka.producer({
      transactionalId: topic.name,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    const messages = [0, 1, 2].map((partition) => ({ ...later, partition }));
    await transaction.send({ topic: topic.name, messages });
    await transaction.abort();
    await producer.disconnect();
    expect(await definitions.readAll()).toEqual(byBoard(record));
  });

  it('writes the current record of a board again if a record of another program follows it', async () => {
    const record = current('arena', 5);
    await definitions.write([record]);
    for (const value of ['hello', null, '{"board":"arena"}']) {
      await send([{ key: 'arena', value }]);
      expect(await definitions.repair()).toEqual(['arena']);
      expect(await definitions.repair()).toEqual([]);
      expect(await definitions.readAll()).toEqual(byBoard(record));
      const records = await readCommitted(topic.kafka, topic.name);
      const ofArena = records.filter(({ key }) => key?.toString() === 'arena');
      expect(decodeDefinitionRecord(ofArena.at(-1)!)).toEqual(record);
    }
    expect(definitions.unreadable).toEqual(new Map());
  });

  it('names the boards whose current record can not be read, until a later one or none follows, and leaves these records alone', async () => {
    const later = (since: number) => {
      const { value, ...others } = encodeDefinitionRecord(current('arena', since), topic.name);
      return { ...others, value: value.replace('"ties"', '"tiesOfVersion2"') };
    };
    const unreadable = async () => {
      await definitions.readAll();
      const found = [...definitions.unreadable.values()];
      return found.map(({ board, since }) => `${board} ${since}`).sort();
    };
    await definitions.write([current('arena', 5)]);
    await send([later(9), later(7), { key: 'other', value: 'hello' }]);
    expect(await unreadable()).toEqual(['arena 9', 'other 0']);
    expect(definitions.unreadable.get('arena')?.problem).toMatch(
      new RegExp(`^${topic.name}/\\d offset \\d+ is not a ranklog.definition.v1: definition: `),
    );
    expect(await definitions.repair()).toEqual([]);
    await send([{ key: 'other', value: null }]);
    expect(await unreadable()).toEqual(['arena 9']);
    await definitions.write([current('arena', 11)]);
    expect(await unreadable()).toEqual([]);
  });

  it('keeps its identity if a record that can not be read follows it', async () => {
    const { name } = topic;
    await definitions.claim();
    await send(['hello', 'null'].map((value) => ({ key: '\u0000identity', value })));
    await expect(definitionsIn(topic, { group: 'g2' }).readAll()).rejects.toThrow('g1 there');
    await definitions.repair();
    const records = await readCommitted(topic.kafka, name);
    expect(records.at(-1)?.value?.toString()).toBe('{"group":"g1"}');
    expect(warnings[0]).toMatch(/offset 1 is not an identity: .*; the record is skipped$/);
  });

  it('stores the identity of one ranklog until it is claimed for another one, and stores it again after it was lost', async () => {
    const { kafka, name } = topic;
    const of = (group: string) =>
      definitionsIn(topic, { group }, (message) => warnings.push(message));
    const records = async () => (await readCommitted(kafka, name)).length;
    const record = current('arena', 5);
    await definitions.write([record]);
    for (let times = 0; times < 2; times++) {
      await of('g1').readAll();
      await definitions.readAll();
      await definitions.claim();
    }
    expect(await records()).toBe(2);
    expect(await definitions.readAll()).toEqual(byBoard(record));
    const refusal = `topic ${name} belongs to a ranklog with other settings: RANKLOG_GROUP is g1 there and g2 here`;
    await expect(of('g2').readAll()).rejects.toThrow(refusal);
    await expect(of('g2').repair()).rejects.toThrow(refusal);
    await of('g2').claim({ moves: true });
    expect(await of('g2').readAll()).toEqual(byBoard(record));
    await expect(definitions.readAll()).rejects.toThrow('RANKLOG_GROUP is g2 there and g1 here');
    await send([{ key: '\u0000identity', value: null }]);
    const next = of('g3');
    expect(await next.readAll()).toEqual(byBoard(record));
    await next.repair();
    await expect(of('g2').readAll()).rejects.toThrow('RANKLOG_GROUP is g3 there and g2 here');
    expect(warnings).toEqual([]);
  });

  const readThrough = async (...fault: readonly [KafkaAction, { times: number }]) => {
    const proxy = await KafkaProxy.toBroker();
    proxy.onRequest(KAFKA_API.fetch, ...fault);
    const kafka = testKafka({ brokers: [proxy.broker] });
    const { admin, name } = topic;
    const read = definitionsIn({ kafka, admin, name }).readAll();
    return read.finally(() => proxy.close());
  };

  it('is read to its end from a slow broker, and is not taken for empty if no response comes', async () => {
    const record = current('arena', 7);
    await definitions.write([record]);
    expect(await readThrough({ delayMs: 3_000 }, { times: 1 })).toEqual(byBoard(record));
    await expect(readThrough('hangBefore', { times: Infinity })).rejects.toThrow(
      /^Kafka did not answer within 10000 ms: .* was not read to its end$/,
    );
  });

  it('throws if it does not exist', async () => {
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    const kafka = testKafka({ brokers, retry: { retries: 0 } });
    const admin = kafka.admin();
    await admin.connect();
    const missing = definitionsIn({ kafka, admin, name: `${topic.name}-none` });
    await expect(missing.readAll()).rejects.toThrow('topic');
    await admin.disconnect();
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { decodeDefinitionRecord, encodeDefinitionRecord, type DefinitionRecord } from '#contracts';
import { IdentityCheck } from '#board-store';
import { DefinitionsTopic } from '../../src/registry/definitions-topic.js';
import { arena } from '../board-store/fixture.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { testKafka } from '../support/kafka-client.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { loggerTo, SILENT } from '../support/loggers.js';
import { readCommitted } from '../support/results.js';

describe('the definitions topic', () => {
  let topic: TestTopic;
  let definitions: DefinitionsTopic;
  let warnings: string[];
  beforeEach(async () => {
    topic = await TestTopic.create(3, { 'cleanup.policy': 'compact' });
    warnings = [];
    definitions = new DefinitionsTopic(topic.kafka, topic.admin, topic.name, {
      log: loggerTo((message) => warnings.push(message)),
      identity: new IdentityCheck({ group: 'g1' }),
    });
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
  /** Sends records as they are, to partitions of choice. */
  const send = async (messages: readonly kafkajs.Message[]) => {
    const { DefaultPartitioner } = kafkajs.Partitioners;
    const producer = topic.kafka.producer({ createPartitioner: DefaultPartitioner });
    await producer.connect();
    await producer.send({ topic: topic.name, messages: [...messages] });
    await producer.disconnect();
  };

  it('is empty at first, and stays so when nothing is written', async () => {
    await definitions.write([]);
    expect(await definitions.readAll()).toEqual(new Map());
    expect(await readCommitted(topic.kafka, topic.name)).toEqual([]);
  });

  it('gives back what was written, of all partitions', async () => {
    const records = Array.from({ length: 20 }, (_, index) => current(`board-${index}`, 1 + index));
    await definitions.write(records);
    expect(await definitions.readAll()).toEqual(byBoard(...records));
    const partitions = (await readCommitted(topic.kafka, topic.name)).map(
      ({ partition }) => partition,
    );
    expect(new Set(partitions).size).toBe(3);
  });

  it('keeps where a board begins in the log, and what was removed', async () => {
    const part = current('arena', 1, { starts: new Map([[2, 41_205]]) });
    const removed = current('other', 2, { definition: null });
    await definitions.write([part, removed]);
    expect(await definitions.readAll()).toEqual(byBoard(part, removed));
  });

  it('takes the latest promotion of a board, whoever wrote last', async () => {
    const [old, now] = [current('arena', 5), current('arena', 7, { definition: null })];
    await definitions.write([old]);
    await definitions.write([now]);
    await definitions.write([old]);
    expect(await definitions.readAll()).toEqual(byBoard(now));
    const again = current('arena', 7);
    await definitions.write([again]);
    expect(await definitions.readAll()).toEqual(byBoard(again));
  });

  it('writes what is in force again where an older record came after it, which is all that compaction would leave', async () => {
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

  it('leaves out what can not be read, and tells where it is', async () => {
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
    expect(warnings).toHaveLength(4);
    for (const warning of warnings)
      expect(warning).toMatch(
        /-?.+\/[012]\/\d+ is left out, as it is not a ranklog.definition.v1: \S/,
      );
  });

  it('is read to its end though transactions were given up in it', async () => {
    const record = current('arena', 5);
    await definitions.write([record]);
    const producer = topic.kafka.producer({ transactionalId: topic.name, idempotent: true, maxInFlightRequests: 1 }); // prettier-ignore
    await producer.connect();
    const transaction = await producer.transaction();
    const messages = [0, 1, 2].map((partition) => ({ ...encodeDefinitionRecord(current('arena', 9), topic.name), partition })); // prettier-ignore
    await transaction.send({ topic: topic.name, messages });
    await transaction.abort();
    await producer.disconnect();
    expect(await definitions.readAll()).toEqual(byBoard(record));
  });

  it('keeps its identity once, until it is moved, and again after it is lost', async () => {
    const { kafka, admin, name } = topic;
    const of = (group: string) =>
      new DefinitionsTopic(kafka, admin, name, {
        log: loggerTo((message) => warnings.push(message)),
        identity: new IdentityCheck({ group }),
      });
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

  describe('behind a slow broker', () => {
    const record = current('arena', 7);
    let proxy: KafkaProxy;
    beforeEach(async () => {
      await definitions.write([record]);
      proxy = await KafkaProxy.toBroker();
    });
    afterEach(() => proxy.close());
    const behindProxy = () =>
      new DefinitionsTopic(testKafka({ brokers: [proxy.broker] }), topic.admin, topic.name, {
        log: SILENT,
        identity: new IdentityCheck({}),
      });

    it('is read to its end', async () => {
      proxy.onRequest(KAFKA_API.fetch, { delayMs: 3_000 });
      expect(await behindProxy().readAll()).toEqual(byBoard(record));
    });

    it('is not taken for empty when no answer comes', async () => {
      proxy.onRequest(KAFKA_API.fetch, 'hangBefore', { times: Infinity });
      await expect(behindProxy().readAll()).rejects.toThrow(/timeout/);
    });
  });

  it('throws if it does not exist', async () => {
    const { kafka, admin, name } = topic;
    const missing = new DefinitionsTopic(kafka, admin, `${name}-none`, {
      log: SILENT,
      identity: new IdentityCheck({}),
    });
    await expect(missing.readAll()).rejects.toThrow('topic');
  });
});

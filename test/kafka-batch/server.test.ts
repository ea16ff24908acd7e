import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { KafkaUnreachableError, type PartitionAssignment, type RecordBatch } from '#kafka-batch';
import {
  KafkaBatchServer,
  OnPartitionAssigned,
  OnPartitionReleased,
  OnRecordBatch,
  type KafkaBatchServerOptions,
} from '#kafka-batch/nest';
import { until } from '../support/instance.js';
import { testKafka } from '../support/kafka-client.js';
import { SILENT } from '../support/loggers.js';
import { FAST, Memory } from './collector.js';
import { numbers, TestTopic } from './topic.js';

function controllerOf({ handlers }: Memory): Type {
  @Controller()
  class TestController {
    @OnPartitionAssigned()
    assigned(assignment: PartitionAssignment): Promise<number> {
      return handlers.assigned(assignment);
    }

    @OnRecordBatch()
    batch(batch: RecordBatch): Promise<void> {
      return handlers.batch(batch);
    }

    @OnPartitionReleased()
    released(assignment: PartitionAssignment): Promise<void> {
      return handlers.released(assignment);
    }
  }
  return TestController;
}

describe('KafkaBatchServer', () => {
  let topic: TestTopic;
  const fatal: Error[] = [];

  async function serve(controllers: Type[], options: Partial<KafkaBatchServerOptions> = {}) {
    const server = new KafkaBatchServer({
      kafka: topic.kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => fatal.push(error),
      ...FAST,
      ...options,
    });
    const module = await Test.createTestingModule({ controllers }).compile();
    const app = module.createNestMicroservice({ strategy: server, logger: false });
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= app.close());
    topic.onRemove(close);
    await app.listen();
    const state = (partition: number) => server.health().partitions.get(partition);
    return { server, state, close };
  }

  afterEach(async () => {
    await topic.remove();
    expect(fatal.splice(0)).toEqual([]);
  });

  it('delivers every record in order while a second instance comes and goes', async () => {
    topic = await TestTopic.create(3);
    const memory = new Memory();
    await serve([controllerOf(memory)]);
    let second: { close: () => Promise<void> } | undefined;
    for (let round = 0; round < 4; round++) {
      const values = numbers(round * 500, round * 500 + 500);
      await Promise.all([0, 1, 2].map((partition) => topic.send(partition, values)));
      if (round === 1) second = await serve([controllerOf(memory)]);
      if (round === 2) await second?.close();
    }
    const isDone = (partition: number) => memory.next.get(partition) === 2_000;
    await until(() => [0, 1, 2].every(isDone), 'everything is delivered');
    for (const partition of [0, 1, 2])
      expect([...new Set(memory.values(partition))]).toEqual(numbers(0, 2_000));
  });

  it('stays in the group, and delivers other partitions, while a handler is slow', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    const release = memory.hold(0);
    const consumer = { sessionTimeout: 6_000, heartbeatInterval: 300 };
    const { state } = await serve([controllerOf(memory)], { consumer });
    const begin = performance.now();
    await topic.send(0, ['slow']);
    for (let sent = 0; performance.now() - begin < 2 * consumer.sessionTimeout; sent++) {
      await topic.send(1, [String(sent)]);
      await until(() => memory.count(1) === sent + 1, 'the other partition gets its record');
    }
    expect(memory.count(0)).toBe(0);
    expect(memory.released).toBe(0); // still a member
    release();
    await until(() => memory.count(0) === 1, 'the slow partition is done');
    expect(state(0)?.state).toBe('running');
  });

  it('continues after ten failures of a handler, both bugs and transient faults', async () => {
    topic = await TestTopic.create(1);
    const memory = new Memory();
    let failures = 0;
    memory.before = ({ records }) => {
      if (failures < 10 && records.some(({ offset }) => offset >= failures)) {
        failures += 1;
        throw failures % 2 === 0 ? new TypeError('a bug') : new Error('a transient fault');
      }
      return Promise.resolve();
    };
    await serve([controllerOf(memory)]);
    for (let sent = 0; sent < 12; sent++) {
      await topic.send(0, [String(sent)]);
      await until(() => memory.count(0) === sent + 1, `record ${sent} is delivered`);
    }
    expect(failures).toBe(10);
    expect(memory.values(0)).toEqual(numbers(0, 12));
  });

  it('that loses and regains a partition starts it again only when its last batch is done', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    const release = memory.hold();
    const { server } = await serve([controllerOf(memory)]);
    const health = () => [...server.health().partitions.values()];
    await Promise.all([topic.send(0, ['a']), topic.send(1, ['a'])]);
    await until(() => memory.entered === 2, 'both partitions handle a batch');
    const other = await serve([controllerOf(new Memory())]);
    await until(() => health().length === 1, 'the other instance has one of them');
    await other.close();
    await until(() => health().length === 2, 'the other partition has come back');
    expect(memory.starts).toBe(2);
    release();
    await until(() => health().every(({ state }) => state === 'running'), 'both are running again');
    expect(memory.mostOpen).toBe(1);
    expect([...memory.open.values()]).toEqual([1, 1]);
  });

  it('does not start without a handler, or with two', async () => {
    topic = await TestTopic.create(1);
    @Controller()
    class Half {
      @OnRecordBatch()
      batch(): Promise<void> {
        return Promise.resolve();
      }
    }
    await expect(serve([Half])).rejects.toThrow('OnPartitionAssigned');
    await expect(serve([controllerOf(new Memory()), Half])).rejects.toThrow(
      'two controller methods handle OnRecordBatch',
    );
  });

  it('names the brokers that it cannot reach', async () => {
    topic = await TestTopic.create(1);
    const kafka = testKafka({ brokers: ['127.0.0.1:1'], retry: { retries: 0 } });
    const unreachable = serve([controllerOf(new Memory())], { kafka, connectTimeoutMs: 1_000 });
    await expect(unreachable).rejects.toBeInstanceOf(KafkaUnreachableError);
    await expect(unreachable).rejects.toThrow('127.0.0.1:1');
  });
});

import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Module, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import kafkajs from 'kafkajs';
import {
  BatchHandlerError,
  KafkaBatchServer,
  KafkaUnreachableError,
  OnPartitionAssigned,
  OnPartitionReleased,
  OnRecordBatch,
  PermanentPartitionError,
  type PartitionAssignment,
  type RecordBatch,
} from '#kafka-batch';
import { until } from '../support/instance.js';
import { numbers, TestTopic } from './topic.js';

/** An application that remembers per partition what it got, and goes on behind the last of it. */
class Memory {
  readonly values = new Map<number, string[]>();
  readonly next = new Map<number, number>();
  released = 0;
  /** What to do before a batch is taken in. */
  before: (batch: RecordBatch) => Promise<void> = () => Promise.resolve();

  take({ partition, records, nextOffset }: RecordBatch): void {
    const values = this.values.get(partition) ?? [];
    values.push(...records.map(({ value }) => value?.toString() ?? ''));
    this.values.set(partition, values);
    this.next.set(partition, nextOffset);
  }

  count(): number {
    return [...this.values.values()].reduce((sum, { length }) => sum + length, 0);
  }
}

function controllerOf(memory: Memory): Type {
  @Controller()
  class TestController {
    @OnPartitionAssigned()
    assigned({ partition }: PartitionAssignment): Promise<number> {
      return Promise.resolve(memory.next.get(partition) ?? 0);
    }

    @OnRecordBatch()
    async batch(batch: RecordBatch): Promise<void> {
      await memory.before(batch);
      memory.take(batch);
    }

    @OnPartitionReleased()
    released(): Promise<void> {
      memory.released += 1;
      return Promise.resolve();
    }
  }
  return TestController;
}

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

describe('KafkaBatchServer', () => {
  const apps: INestMicroservice[] = [];
  let topic: TestTopic;
  const fatal: Error[] = [];

  async function serve(controllers: Type[], brokers?: string[]) {
    @Module({ controllers })
    class TestModule {}
    const kafka =
      brokers === undefined
        ? topic.kafka
        : new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 0 } });
    const server = new KafkaBatchServer({
      kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => fatal.push(error),
      consumer: { sessionTimeout: 2_000, heartbeatInterval: 500 },
      backoff: { firstMs: 10, mostMs: 50 },
      connectTimeoutMs: 1_000,
    });
    const app = await NestFactory.createMicroservice(TestModule, {
      strategy: server,
      logger: false,
      abortOnError: false,
    });
    apps.push(app);
    await app.listen();
    return { app, server };
  }

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    await topic.remove();
    expect(fatal.splice(0)).toEqual([]);
  });

  it('delivers every record in order while a second instance comes and goes', async () => {
    topic = await TestTopic.create(3);
    const memory = new Memory();
    await serve([controllerOf(memory)]);
    for (let round = 0; round < 4; round++) {
      await Promise.all(
        [0, 1, 2].map((partition) =>
          topic.send(partition, numbers(round * 500, round * 500 + 500)),
        ),
      );
      if (round === 1) await serve([controllerOf(memory)]);
      if (round === 2) await apps.pop()?.close();
    }
    await until(() => memory.count() >= 6_000, 'everything is delivered');
    expect([...memory.values.keys()].sort()).toEqual([0, 1, 2]);
    for (const values of memory.values.values())
      expect([...new Set(values)]).toEqual(numbers(0, 2_000));
  }, 60_000);

  it('neither loses its place in the group nor delays other partitions by a handler that is slow', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    memory.before = ({ partition }) => (partition === 0 ? held : Promise.resolve());
    const { server } = await serve([controllerOf(memory)]);
    const begin = performance.now();
    await topic.send(0, ['slow']);
    for (let sent = 0; performance.now() - begin < 4_000; sent++) {
      await topic.send(1, [String(sent)]);
      await until(
        () => memory.values.get(1)?.length === sent + 1,
        'the other partition gets its record',
        1,
      );
    }
    expect(memory.values.get(0)).toBeUndefined();
    expect(memory.released).toBe(0); // twice the session timeout, and still a member
    release();
    await until(() => memory.values.get(0)?.length === 1, 'the slow partition is done');
    expect(server.partitions().get(0)?.state).toBe('running');
  }, 60_000);

  it('goes on after a handler has failed ten times, by bugs and by passing faults', async () => {
    topic = await TestTopic.create(1);
    const memory = new Memory();
    let failures = 0;
    memory.before = ({ records }) => {
      if (failures < 10 && records.some(({ offset }) => offset >= failures)) {
        failures += 1;
        throw failures % 2 === 0 ? new TypeError('a bug') : new Error('a passing fault');
      }
      return Promise.resolve();
    };
    await serve([controllerOf(memory)]);
    for (let sent = 0; sent < 12; sent++) {
      await topic.send(0, [String(sent)]);
      await until(() => memory.count() === sent + 1, `record ${sent} is delivered`, 10);
    }
    expect(failures).toBe(10);
    expect(memory.values.get(0)).toEqual(numbers(0, 12));
  }, 60_000);

  it('stops one partition alone at a permanent error', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    memory.before = ({ partition }) => {
      if (partition === 0) throw new PermanentPartitionError('never');
      return Promise.resolve();
    };
    const { server } = await serve([controllerOf(memory)]);
    await topic.send(0, ['a']);
    await until(() => server.partitions().get(0)?.state === 'failed', 'partition 0 is failed');
    await topic.send(1, ['b']);
    await until(() => memory.values.get(1)?.length === 1, 'partition 1 goes on');
    expect(server.partitions().get(0)?.error?.message).toBe('never');
    expect(memory.values.has(0)).toBe(false);
  }, 30_000);

  it('delivers what transactions have committed, without the aborted ones, and takes their markers for no loss', async () => {
    topic = await TestTopic.create(1);
    const producer = topic.kafka.producer({
      transactionalId: topic.name,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20 },
    });
    await producer.connect();
    const memory = new Memory();
    const { server } = await serve([controllerOf(memory)]);
    for (let round = 0; round < 6; round++) {
      const transaction = await producer.transaction();
      await transaction.send({
        topic: topic.name,
        messages: [{ partition: 0, value: String(round) }],
      });
      await (round % 2 === 0 ? transaction.commit() : transaction.abort());
    }
    await producer.disconnect();
    await until(() => memory.count() === 3, 'what is committed is delivered');
    expect(memory.values.get(0)).toEqual(['0', '2', '4']);
    expect(server.partitions().get(0)?.state).toBe('running');
  }, 30_000);

  it('finishes the batch in hand and releases the partition when it is closed', async () => {
    topic = await TestTopic.create(1);
    const memory = new Memory();
    let entered = false;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    memory.before = () => {
      entered = true;
      return held;
    };
    const { app } = await serve([controllerOf(memory)]);
    await topic.send(0, ['a']);
    await until(() => entered, 'the handler is called');
    const closing = app.close();
    release();
    await closing;
    expect(memory.values.get(0)).toEqual(['a']);
    expect(memory.released).toBe(1);
    apps.length = 0;
  }, 30_000);

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
    await expect(serve([controllerOf(new Memory()), Half])).rejects.toBeInstanceOf(
      BatchHandlerError,
    );
  }, 30_000);

  it('names the brokers that it can not reach', async () => {
    topic = await TestTopic.create(1);
    const unreachable = serve([controllerOf(new Memory())], ['127.0.0.1:1']);
    await expect(unreachable).rejects.toBeInstanceOf(KafkaUnreachableError);
    await expect(unreachable).rejects.toThrow('127.0.0.1:1');
  }, 30_000);
});

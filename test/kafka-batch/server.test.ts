import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Module, type INestMicroservice, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import kafkajs, { type Consumer } from 'kafkajs';
import {
  BatchHandlerError,
  KafkaUnreachableError,
  LogGapError,
  PermanentPartitionError,
  type PartitionAssignment,
  type RecordBatch,
} from '#kafka-batch';
import {
  KafkaBatchServer,
  OnPartitionAssigned,
  OnPartitionReleased,
  OnRecordBatch,
  type KafkaBatchServerOptions,
} from '#kafka-batch/nest';
import { until } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { numbers, TestTopic } from './topic.js';

/** An application that remembers per partition what it got, and goes on behind the last of it. */
class Memory {
  readonly values = new Map<number, string[]>();
  readonly next = new Map<number, number>();
  released = 0;
  /** Starts of each partition that are not released yet, and the most that there were at a time. */
  readonly open = new Map<number, number>();
  mostOpen = 0;
  /** What to do before a batch is taken in. */
  before: (batch: RecordBatch) => Promise<void> = () => Promise.resolve();

  take({ partition, records, nextOffset }: RecordBatch): void {
    const values = this.values.get(partition) ?? [];
    values.push(...records.map(({ value }) => value?.toString() ?? ''));
    this.values.set(partition, values);
    this.next.set(partition, nextOffset);
  }

  opened(partition: number, change: 1 | -1): void {
    const open = (this.open.get(partition) ?? 0) + change;
    this.open.set(partition, open);
    this.mostOpen = Math.max(this.mostOpen, open);
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
      memory.opened(partition, 1);
      return Promise.resolve(memory.next.get(partition) ?? 0);
    }

    @OnRecordBatch()
    async batch(batch: RecordBatch): Promise<void> {
      await memory.before(batch);
      memory.take(batch);
    }

    @OnPartitionReleased()
    released({ partition }: PartitionAssignment): Promise<void> {
      memory.opened(partition, -1);
      memory.released += 1;
      return Promise.resolve();
    }
  }
  return TestController;
}

/** Holds up a memory's batches until `release`; `entered` counts those that came. */
function holdUp(memory: Memory) {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const hold = { entered: 0, release };
  memory.before = () => {
    hold.entered += 1;
    return held;
  };
  return hold;
}

describe('KafkaBatchServer', () => {
  const apps: INestMicroservice[] = [];
  let topic: TestTopic;
  const fatal: Error[] = [];

  async function serve(controllers: Type[], options: Partial<KafkaBatchServerOptions> = {}) {
    @Module({ controllers })
    class TestModule {}
    const server = new KafkaBatchServer({
      kafka: topic.kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => fatal.push(error),
      consumer: { sessionTimeout: 6_000, heartbeatInterval: 500 },
      backoff: { firstMs: 10, mostMs: 50 },
      ...options,
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
    await until(
      () => [0, 1, 2].every((partition) => memory.next.get(partition) === 2_000),
      'everything is delivered',
    );
    expect([...memory.values.keys()].sort()).toEqual([0, 1, 2]);
    for (const values of memory.values.values())
      expect([...new Set(values)]).toEqual(numbers(0, 2_000));
  });

  it('neither loses its place in the group nor delays other partitions by a handler that is slow', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    memory.before = ({ partition }) => (partition === 0 ? held : Promise.resolve());
    const { server } = await serve([controllerOf(memory)]);
    const begin = performance.now();
    await topic.send(0, ['slow']);
    for (let sent = 0; performance.now() - begin < 13_000; sent++) {
      await topic.send(1, [String(sent)]);
      await until(
        () => memory.values.get(1)?.length === sent + 1,
        'the other partition gets its record',
      );
    }
    expect(memory.values.get(0)).toBeUndefined();
    expect(memory.released).toBe(0); // twice the session timeout, and still a member
    release();
    await until(() => memory.values.get(0)?.length === 1, 'the slow partition is done');
    expect(server.health().partitions.get(0)?.state).toBe('running');
  });

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
      await until(() => memory.count() === sent + 1, `record ${sent} is delivered`);
    }
    expect(failures).toBe(10);
    expect(memory.values.get(0)).toEqual(numbers(0, 12));
  });

  it('stops one partition alone at a permanent error', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    memory.before = ({ partition }) => {
      if (partition === 0) throw new PermanentPartitionError('never');
      return Promise.resolve();
    };
    const { server } = await serve([controllerOf(memory)]);
    await topic.send(0, ['a']);
    await until(
      () => server.health().partitions.get(0)?.state === 'failed',
      'partition 0 is failed',
    );
    await topic.send(1, ['b']);
    await until(() => memory.values.get(1)?.length === 1, 'partition 1 goes on');
    expect(server.health().partitions.get(0)?.error?.message).toBe('never');
    expect(memory.values.has(0)).toBe(false);
  });

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
    expect(server.health().partitions.get(0)?.state).toBe('running');
  });

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
  });

  it('starts a partition that was lost and came back only when its batch of before is done', async () => {
    topic = await TestTopic.create(2);
    const memory = new Memory();
    const hold = holdUp(memory);
    const { server } = await serve([controllerOf(memory)]);
    await Promise.all([topic.send(0, ['a']), topic.send(1, ['a'])]);
    await until(() => hold.entered === 2, 'both partitions have a batch in hand');
    const other = await serve([controllerOf(new Memory())]);
    await until(() => server.health().partitions.size === 1, 'the other instance has one of them');
    await other.app.close();
    await until(() => server.health().partitions.size === 2, 'it has come back');
    hold.release();
    await until(
      () => [...server.health().partitions.values()].every(({ state }) => state === 'running'),
      'both run again',
    );
    expect(memory.mostOpen).toBe(1);
    expect(memory.open).toEqual(
      new Map([
        [0, 1],
        [1, 1],
      ]),
    );
  });

  /** A partition that is paused with a batch in hand and one that waits; more is in the log. */
  async function paused(memory: Memory, more: readonly string[]) {
    topic = await TestTopic.create(1);
    const hold = holdUp(memory);
    const { server } = await serve([controllerOf(memory)], {
      queue: { high: 0, low: 1, bytes: 1_000_000 },
    });
    await topic.send(0, ['a']);
    await until(() => hold.entered === 1, 'a batch is in hand');
    await topic.send(0, ['b']);
    await until(() => server.unwrap<Consumer>().paused().length === 1, 'the partition is paused');
    await topic.send(0, more);
    return { server, hold };
  }

  it('goes on after everything was paused', async () => {
    const memory = new Memory();
    const { hold } = await paused(memory, ['c']);
    hold.release();
    await until(() => memory.count() === 3, 'everything is delivered');
    expect(memory.values.get(0)).toEqual(['a', 'b', 'c']);
  });

  it('stops with a LogGapError when history was cut before it came to it, and skips nothing', async () => {
    const memory = new Memory();
    const { server, hold } = await paused(memory, ['c', 'd', 'e']);
    await topic.cut(0, 4);
    hold.release();
    await until(
      () => server.health().partitions.get(0)?.state === 'failed',
      'the partition is failed',
    );
    expect(server.health().partitions.get(0)?.error).toMatchObject({
      constructor: LogGapError,
      expected: 2,
      log: { start: 4, end: 5 },
    });
    expect(memory.values.get(0)).toEqual(['a', 'b']);
  });

  it('does not start on a position that the log has lost, even when no record is left to tell', async () => {
    topic = await TestTopic.create(1);
    await topic.send(0, numbers(0, 10));
    await topic.cut(0, 10);
    const memory = new Memory();
    memory.next.set(0, 3);
    const { server } = await serve([controllerOf(memory)]);
    await until(
      () => server.health().partitions.get(0)?.state === 'failed',
      'the partition is failed',
    );
    expect(server.health().partitions.get(0)?.error).toMatchObject({
      constructor: LogGapError,
      expected: 3,
      log: { start: 10, end: 10 },
    });
    expect(memory.count()).toBe(0);
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
    await expect(serve([controllerOf(new Memory()), Half])).rejects.toBeInstanceOf(
      BatchHandlerError,
    );
  });

  it('names the brokers that it can not reach', async () => {
    topic = await TestTopic.create(1);
    const kafka = new kafkajs.Kafka({
      brokers: ['127.0.0.1:1'],
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { retries: 0 },
    });
    const unreachable = serve([controllerOf(new Memory())], { kafka, connectTimeoutMs: 1_000 });
    await expect(unreachable).rejects.toBeInstanceOf(KafkaUnreachableError);
    await expect(unreachable).rejects.toThrow('127.0.0.1:1');
  });
});

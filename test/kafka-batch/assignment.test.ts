import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Consumer } from 'kafkajs';
import { type PartitionAssignment, type RecordBatch } from '#kafka-batch';
import {
  KafkaBatchServer,
  OnPartitionAssigned,
  OnPartitionReleased,
  OnRecordBatch,
} from '#kafka-batch/nest';
import { until } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { numbers, TestTopic } from './topic.js';

/** An application that starts each partition where `find` says, and keeps what it is given. */
class Member {
  readonly assignments = new Map<number, PartitionAssignment>();
  readonly batches: RecordBatch[] = [];

  private constructor(
    readonly server: KafkaBatchServer,
    readonly app: { current: INestMicroservice | undefined },
  ) {}

  static async join(topic: TestTopic, find: () => Promise<number>): Promise<Member> {
    const server = new KafkaBatchServer({
      kafka: topic.kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => {
        throw error;
      },
      consumer: { sessionTimeout: 10_000, heartbeatInterval: 500 },
    });
    const member = new Member(server, { current: undefined });
    const app = await NestFactory.createMicroservice(member.module(find), {
      strategy: server,
      logger: false,
    });
    member.app.current = app;
    await app.listen();
    return member;
  }

  async leave(): Promise<void> {
    await this.app.current?.close();
    this.app.current = undefined;
  }

  offsets(): number[] {
    return this.batches.flatMap(({ records }) => records.map(({ offset }) => offset));
  }

  private module(find: () => Promise<number>) {
    const { assignments, batches } = this;
    @Controller()
    class TestController {
      @OnPartitionAssigned()
      assigned(assignment: PartitionAssignment): Promise<number> {
        assignments.set(assignment.partition, assignment);
        return find();
      }

      @OnRecordBatch()
      batch(batch: RecordBatch): Promise<void> {
        batches.push(batch);
        return Promise.resolve();
      }

      @OnPartitionReleased()
      released(): Promise<void> {
        return Promise.resolve();
      }
    }
    @Module({ controllers: [TestController] })
    class TestModule {}
    return TestModule;
  }
}

describe('an assigned partition', () => {
  let topic: TestTopic;
  const members: Member[] = [];
  const join = async (find: () => Promise<number> = () => Promise.resolve(0)) => {
    const member = await Member.join(topic, find);
    members.push(member);
    return member;
  };

  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.leave()));
    await topic.remove();
  });

  it('is paused until the application has found its offset, and begins with exactly that record', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.admin.setOffsets({
      groupId: topic.name,
      topic: topic.name,
      partitions: [{ partition: 0, offset: '2' }], // of no account: the application knows better
    });
    let found: (offset: number) => void = () => undefined;
    const offset = new Promise<number>((resolve) => (found = resolve));
    const member = await join(() => offset);
    await until(() => member.assignments.has(0), 'the partition is assigned');
    const consumer = member.server.unwrap<Consumer>();
    expect(consumer.paused()).toEqual([{ topic: topic.name, partitions: [0, 1] }]);
    expect(member.server.health().partitions.get(0)?.state).toBe('starting');
    expect(member.batches).toEqual([]);

    members.pop();
    found(0);
    await until(() => member.offsets().length === 10, 'all records are delivered');
    await member.leave();
    const later = await join(() => Promise.resolve(0));
    await until(() => later.assignments.has(1), 'the partitions are assigned anew');
  });

  it('is known as ours by its holder alone, as instances come and go', async () => {
    const first = await join();
    await until(() => first.server.health().partitions.size === 2, 'the first has both');
    const [zero, one] = [first.assignments.get(0), first.assignments.get(1)];
    expect([await zero?.stillOurs(), await one?.stillOurs()]).toEqual([true, true]);

    const second = await join();
    await until(
      () =>
        first.server.health().partitions.size === 1 && second.server.health().partitions.size === 1,
      'each has one',
    );
    const [moved] = [...second.server.health().partitions.keys()];
    const stays = moved === 0 ? 1 : 0;
    const ask = (member: Member, partition: number | undefined) =>
      member.assignments.get(partition ?? -1)?.stillOurs();
    expect(await ask(first, moved)).toBe(false);
    expect(await ask(second, moved)).toBe(true);
    expect(await ask(first, stays)).toBe(true);

    await second.leave();
    await until(() => first.server.health().partitions.size === 2, 'the first has both again');
    expect(await ask(first, moved)).toBe(true);
  });
});

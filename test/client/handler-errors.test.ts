import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type LogEntry } from 'kafkajs';
import {
  RankChangeSubscriber,
  type HandlerErrors,
  type RankChange,
  type SkippedResult,
} from '#client';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { testKafka } from '../support/kafka-client.js';
import { seededRandom } from '../support/seeded-random.js';
import { groupOf, result, results, subscribe as subscribeTo } from './rank-change-topic.js';

const QUICK = { initialDelayMs: 1, maxDelayMs: 20 };

let topic: TestTopic;
let logs: LogEntry[];
/** `source.offset` of each call of the handler. */
let calls: number[];
const committed = () => topic.committed(groupOf(topic));
const messages = () => logs.map(({ log }) => log.message);
beforeEach(async () => {
  topic = await TestTopic.create(2, {}, '.rank-changes');
  logs = [];
  calls = [];
});
afterEach(() => topic.remove());

/** Subscribes with a client that keeps what is logged at level ERROR. */
function subscribe(handle: (change: RankChange) => Promise<void> | void, errors?: HandlerErrors) {
  const kafka = testKafka({
    brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
    logLevel: kafkajs.logLevel.ERROR,
    logCreator: () => (entry) => void logs.push(entry),
  });
  return subscribeTo(topic, handle, { kafka, ...(errors && { errors }) });
}

/** A handler that throws `times` times for the result with this number. */
function failing(number: number, times: number, error = new Error('no database')) {
  let left = times;
  return ({ source }: RankChange) => {
    calls.push(source.offset);
    if (source.offset === number && left-- > 0) throw error;
  };
}

describe('a handler that throws', () => {
  it('gets the result again by default, before later ones of the partition, and each failure is logged', async () => {
    await topic.send(1, results(0, 3));
    await subscribe(failing(1, 2));
    await until(async () => (await committed())[1] === 3, 'all are handled');
    expect(calls).toEqual([0, 1, 1, 1, 2]);
    const facts = { topic: topic.name, partition: 1, offset: 1, board: 'arena', player: 'ada' };
    expect(logs.map(({ log }) => log)).toMatchObject([
      { ...facts, attempt: 1, error: 'no database', stack: expect.stringContaining('at ') },
      { ...facts, attempt: 2, error: 'no database' },
    ]);
    expect(messages()[0]).toMatch(
      `a handler failed (topic ${topic.name}, partition 1, offset 1, board arena, player ada, attempt 1), retrying in `,
    );
  });

  it.each([
    [{ policy: 'Skip' as 'skip' }, 'errors.policy is Skip; it must be one of retry, skip, stop'],
    [{ retries: NaN }, 'errors.retries is NaN; it must be 0 or more'],
    [{ maxDelayMs: -1 }, 'errors.maxDelayMs is -1; it must be 0 or more'],
    [{ onSkipped: () => undefined }, 'errors.onSkipped needs the policy skip; the policy is retry'],
  ])('can not have the options %p', (errors, message) => {
    const { kafka } = topic;
    const create = () => new RankChangeSubscriber({ kafka, groupId: 'badges', errors });
    expect(create).toThrow(message);
  });

  it('gets the result again if `policy` and the numbers are undefined', async () => {
    await topic.send(1, results(0, 3));
    const names = ['policy', 'retries', 'initialDelayMs', 'maxDelayMs'];
    const none = Object.fromEntries(names.map((name) => [name, undefined])) as HandlerErrors;
    await subscribe(failing(1, 2), none);
    await until(async () => (await committed())[1] === 3, 'all are handled');
    expect(calls).toEqual([0, 1, 1, 1, 2]);
    expect(messages()).toHaveLength(2);
  });

  it('delays only its own partition, however often it fails', async () => {
    await topic.send(0, [result(0)]);
    await subscribe(failing(0, Infinity), QUICK);
    await until(() => calls.length > 8, 'the handler has failed 8 times');
    await topic.send(1, results(1, 4));
    await until(() => calls.includes(3), 'the other partition has continued');
    expect(calls.filter((call) => call !== 0)).toEqual([1, 2, 3]);
    expect(await committed()).not.toContain(1);
  });

  it('skips the result after `retries` with the policy `skip`, and logs it', async () => {
    await topic.send(0, results(0, 3));
    await subscribe(failing(1, Infinity), { policy: 'skip', retries: 2, ...QUICK });
    await until(async () => (await committed())[0] === 3, 'the result is skipped');
    expect(calls).toEqual([0, 1, 1, 1, 2]);
    expect(messages()).toHaveLength(3);
    expect(messages()[2]).toContain('offset 1, board arena, player ada, attempt 3), skipping');
  });

  it('skips records that are not results with the policy `skip`, and logs where they are', async () => {
    await topic.send(0, [result(0), 'no JSON', null, result(3)]);
    await subscribe(failing(0, 0), { policy: 'skip' });
    await until(async () => (await committed())[0] === 4, 'the records are skipped');
    expect(calls).toEqual([0, 3]);
    expect(messages()).toEqual(
      [1, 2].map((offset) =>
        expect.stringContaining(
          `skipping a result: cannot read the record at offset ${offset} of ${topic.name}/0: `,
        ),
      ),
    );
  });

  it('gives what the policy `skip` skips to `onSkipped`, before it goes on', async () => {
    await topic.send(0, [result(0), result(1), 'no JSON', result(3)]);
    const skipped: unknown[] = [];
    const onSkipped = ({ offset, result: given, error }: SkippedResult) => {
      const source = (given as RankChange | undefined)?.source.offset;
      skipped.push([offset, source, error.constructor.name, calls.at(-1)]);
    };
    await subscribe(failing(1, Infinity), { policy: 'skip', retries: 1, onSkipped, ...QUICK });
    await until(async () => (await committed())[0] === 4, 'the results are skipped');
    expect(skipped).toEqual([
      [1, 1, 'Error', 1],
      [2, undefined, 'UnreadableResultError', 1],
    ]);
  });

  it('ends the subscription if `onSkipped` throws; the next one gets the result again', async () => {
    await topic.send(0, results(0, 3));
    const onSkipped = () => Promise.reject(new Error('no disk'));
    const errors = { policy: 'skip', retries: 0, onSkipped } as const;
    const ending = await subscribe(failing(1, Infinity), errors);
    await expect(ending.failed).rejects.toThrow('no disk');
    await ending.stop();
    expect(await committed()).toContain(1);
  });

  it.each([TypeError, SyntaxError])(
    'ends the subscription after `retries` with the policy `stop` (%p); the next one gets the result again',
    async (Bug) => {
      await topic.send(0, results(0, 3));
      const errors = { policy: 'stop', retries: 1, ...QUICK } as const;
      const ending = await subscribe(failing(1, Infinity, new Bug('a bug')), errors);
      await expect(ending.failed).rejects.toBeInstanceOf(Bug);
      await ending.stop();
      expect(messages()[1]).toContain('attempt 2), ending the subscription: a bug');
      expect(messages()[2]).toBe(
        `group ${groupOf(topic)}: the subscription to ${topic.name} ends: a bug`,
      );
      await subscribe(failing(1, 0));
      await until(() => calls.at(-1) === 2, 'the rest is handled');
      expect(calls).toEqual([0, 1, 1, 1, 2]);
    },
  );

  it('does not delay `stop` by its pause, and the next member gets the result', async () => {
    await topic.send(0, results(0, 3));
    const waiting = await subscribe(failing(1, Infinity), {
      initialDelayMs: 600_000,
      maxDelayMs: 600_000,
    });
    await until(() => calls.length === 2, 'the handler has failed');
    const began = performance.now();
    await waiting.stop();
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(await committed()).toEqual([1, 0]);
    await subscribe(failing(1, 0));
    await until(() => calls.at(-1) === 2, 'the rest is handled');
    expect(calls).toEqual([0, 1, 1, 2]);
  });

  it('at random gets the results of each partition in order, without a gap', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const each = 300;
    await topic.send(0, results(0, each));
    await topic.send(1, results(each, 2 * each));
    const handled: number[] = [];
    await subscribe(async ({ source }) => {
      if (random() < 0.2) await new Promise(setImmediate);
      if (random() < 0.3) throw new Error('at random');
      handled.push(source.offset);
    }, QUICK);
    await until(() => handled.length >= 2 * each, 'all are handled');
    const ofPartition = (from: number) => handled.filter((n) => n >= from && n < from + each);
    const expected = (from: number) => Array.from({ length: each }, (_, index) => from + index);
    expect(ofPartition(0)).toEqual(expected(0));
    expect(ofPartition(each)).toEqual(expected(each));
    expect(handled).toHaveLength(2 * each);
  });
});

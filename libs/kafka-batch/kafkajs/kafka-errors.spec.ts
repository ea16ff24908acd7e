import { describe, expect, it } from '@jest/globals';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import kafkajs from 'kafkajs';
import {
  isBusy,
  isFenced,
  isPermanent,
  isTooLarge,
  LogGapError,
  UnreadableBatchError,
} from './kafka-errors.js';

/** A failure as kafkajs throws it, with the broker's error as a cause. */
const failure = (code: number) =>
  new Error('a request failed', { cause: protocolErrors.createErrorFromCode(code) });

const OTHERS = [3, 7, 45, 53];

describe('a broker error', () => {
  it.each([
    ['the coordinator is loading', 14],
    ['there is no coordinator', 15],
    ['the coordinator has moved', 16],
    ['the previous transaction is not finished', 51],
  ])('counts as busy when %s', (_, code) => {
    expect(isBusy(failure(code))).toBe(true);
    expect(isFenced(failure(code))).toBe(false);
  });

  it.each([
    ['the epoch is old', 47],
    ['the transaction is over', 48],
    ['the transactional id has another producer id', 49],
  ])('counts as fenced when %s', (_, code) => {
    expect(isFenced(failure(code))).toBe(true);
    expect(isBusy(failure(code))).toBe(false);
  });

  it.each([
    ['a message', 10],
    ['a list of records', 18],
  ])('counts as too large when %s is too large', (_, code) => {
    expect(isTooLarge(failure(code))).toBe(true);
  });

  it.each(OTHERS)('counts as neither busy nor fenced nor too large with code %i', (code) => {
    for (const is of [isBusy, isFenced, isTooLarge]) expect(is(failure(code))).toBe(false);
  });
});

describe('isPermanent', () => {
  const ofBroker = (code: number) => protocolErrors.createErrorFromCode(code);
  /** kafkajs declares this constructor without its message parameter. */
  const LockTimeout: new (message: string) => Error = kafkajs.KafkaJSLockTimeout;
  const afterRetries = (error: Error) =>
    new kafkajs.KafkaJSNumberOfRetriesExceeded(error, { retryCount: 5, retryTime: 1 });

  it.each<[string, Error]>([
    ['a lost connection', new kafkajs.KafkaJSConnectionError('ECONNREFUSED')],
    ['a lost connection after retries', afterRetries(new kafkajs.KafkaJSConnectionError('x'))],
    ['a topic that does not exist yet', ofBroker(3)],
    ['another leader', ofBroker(6)],
    ['a leader that lacks the offset', ofBroker(1)],
    ['an unknown server error', ofBroker(-1)],
    ['an error code that kafkajs does not know', ofBroker(1_000)],
    ['a lock timeout', new LockTimeout('x')],
  ])('is false for %s', (_, error) => {
    expect(isPermanent(error)).toBe(false);
  });

  it.each<[string, Error]>([
    ['a missing right', ofBroker(29)],
    ['a missing right after retries', afterRetries(ofBroker(29))],
    [
      'a batch that cannot be read',
      new UnreadableBatchError(
        { topic: 't', partition: 0, first: 1, last: 2, crc: 3 },
        new Error('broken'),
      ),
    ],
    ['a log gap', new LogGapError('t', 0, 1, { start: 2, end: 3 })],
    ['a bug', new TypeError('undefined is not a function')],
  ])('is true for %s', (_, error) => {
    expect(isPermanent(error)).toBe(true);
  });
});

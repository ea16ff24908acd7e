import { describe, expect, it } from '@jest/globals';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import kafkajs from 'kafkajs';
import {
  isBusy,
  isFenced,
  isPermanent,
  isTooLarge,
  LogGapError,
  MissingCodecError,
} from './errors.js';

/** An error as kafkajs passes it on: the broker's code in a cause. */
const failure = (code: number) =>
  new Error('a request failed', { cause: protocolErrors.createErrorFromCode(code) });

const OTHERS = [3, 7, 45, 53];

describe('a broker error', () => {
  it.each([
    ['the coordinator loads', 14],
    ['there is no coordinator', 15],
    ['the coordinator has moved', 16],
    ['the previous transaction is not finished', 51],
  ])('asks to be asked again when %s', (_, code) => {
    expect(isBusy(failure(code))).toBe(true);
    expect(isFenced(failure(code))).toBe(false);
  });

  it.each([
    ['the epoch is old', 47],
    ['the transaction is over', 48],
    ['the producer id is another', 49],
  ])('tells of fencing when %s', (_, code) => {
    expect(isFenced(failure(code))).toBe(true);
    expect(isBusy(failure(code))).toBe(false);
  });

  it.each([
    ['a message', 10],
    ['a list of records', 18],
  ])('tells that %s is too large', (_, code) => {
    expect(isTooLarge(failure(code))).toBe(true);
  });

  it.each(OTHERS)('is none of these with code %i', (code) => {
    for (const is of [isBusy, isFenced, isTooLarge]) expect(is(failure(code))).toBe(false);
  });
});

describe('whether a request is asked again in vain', () => {
  const ofBroker = (code: number) => protocolErrors.createErrorFromCode(code);
  /** kafkajs declares it without its message. */
  const LockTimeout: new (message: string) => Error = kafkajs.KafkaJSLockTimeout;
  const afterRetries = (error: Error) =>
    new kafkajs.KafkaJSNumberOfRetriesExceeded(error, { retryCount: 5, retryTime: 1 });

  it.each<[string, Error]>([
    ['a lost connection', new kafkajs.KafkaJSConnectionError('ECONNREFUSED')],
    ['a lost connection, again and again', afterRetries(new kafkajs.KafkaJSConnectionError('x'))],
    ['a topic that is not there yet', ofBroker(3)],
    ['another leader', ofBroker(6)],
    ['a leader that lacks the offset, when the log has it', ofBroker(1)],
    ['trouble of the broker', ofBroker(-1)],
    ['an error that is newer than kafkajs', ofBroker(1_000)],
    ['a lock that is not free in time', new LockTimeout('x')],
  ])('not after %s', (_, error) => {
    expect(isPermanent(error)).toBe(false);
  });

  it.each<[string, Error]>([
    ['a right that is missing', ofBroker(29)],
    ['a right that is missing, again and again', afterRetries(ofBroker(29))],
    ['a codec that is missing', new MissingCodecError('lz4')],
    ['history that is cut', new LogGapError('t', 0, 1, { start: 2, end: 3 })],
    ['a fault of the program', new TypeError('undefined is not a function')],
  ])('after %s', (_, error) => {
    expect(isPermanent(error)).toBe(true);
  });
});

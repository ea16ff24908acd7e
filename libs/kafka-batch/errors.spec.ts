import { describe, expect, it } from '@jest/globals';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { isBusy, isFenced, isTooLarge } from './errors.js';

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

import { beforeEach, describe, expect, it } from '@jest/globals';
import { logLevel } from 'kafkajs';
import { kafkaLogCreator } from './kafka-logger.js';

describe('kafkaLogCreator', () => {
  let words: string[] = [];
  beforeEach(() => {
    words = [];
  });

  const log = kafkaLogCreator({
    debug: (message) => words.push(`debug: ${message}`),
    info: (message) => words.push(`info: ${message}`),
    warn: (message) => words.push(`warn: ${message}`),
    error: (message) => words.push(`error: ${message}`),
  })(logLevel.INFO);
  const say = (level: logLevel, message: string, error?: string) =>
    log({
      namespace: 'x',
      level,
      label: 'x',
      log: { timestamp: '', message, ...(error === undefined ? {} : { error }) },
    });

  it('passes on what kafkajs warns of, and its errors', () => {
    say(logLevel.WARN, 'a warning');
    say(logLevel.ERROR, 'a failure');
    expect(words).toEqual(['warn: kafkajs: a warning', 'error: kafkajs: a failure']);
  });

  it('keeps its running commentary for debugging', () => {
    say(logLevel.INFO, 'Starting');
    say(logLevel.DEBUG, 'Request');
    expect(words).toEqual(['debug: kafkajs: Starting', 'debug: kafkajs: Request']);
  });

  it.each([
    [
      'Response AddOffsetsToTxn(key: 25, version: 1)',
      'The producer attempted to update a transaction',
    ],
    ['The group is rebalancing, re-joining', undefined],
    ['a request failed', 'CONCURRENT_TRANSACTIONS'],
  ])('keeps for debugging what is only noise: %s', (message, error) => {
    say(logLevel.ERROR, message, error);
    expect(words).toEqual([`debug: kafkajs: ${message}`]);
  });
});

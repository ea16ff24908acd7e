import { expect, it } from '@jest/globals';
import { logLevel } from 'kafkajs';
import { kafkaLogCreator } from './kafka-logger.js';

it.each([
  ['debug', 'a handled error', logLevel.ERROR, 'Connection'],
  ['debug', 'a handled warning', logLevel.WARN, 'Runner'],
  ['debug', 'a late answer', logLevel.WARN, 'RequestQueue'],
  ['debug', 'progress', logLevel.INFO, 'Consumer'],
  ['warn', 'another warning', logLevel.WARN, 'Admin'],
  ['error', 'another error', logLevel.ERROR, 'Consumer'],
])('writes to %s: %s', (target, message, level, namespace) => {
  const lines: string[] = [];
  const to = (name: string) => (text: string) => lines.push(`${name}: ${text}`);
  const logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
  const log = kafkaLogCreator(logger)(logLevel.INFO);
  log({ namespace, level, label: 'x', log: { timestamp: '', message } });
  expect(lines).toEqual([`${target}: kafkajs: ${message}`]);
});

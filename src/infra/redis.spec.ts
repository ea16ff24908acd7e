import { describe, expect, it } from '@jest/globals';
import { loggerTo } from '../../test/support/loggers.js';
import { loadSettings } from '../config/settings.js';
import { createRedis } from './redis.js';

describe('the log of the Redis connection', () => {
  it('names the cause of a failed or lost connection once, and says when it is restored', () => {
    const lines: string[] = [];
    const logger = loggerTo((message) => lines.push(message));
    const redis = createRedis(loadSettings({}).settings, logger); // connects on the first command
    redis.emit('error', new Error('WRONGPASS'));
    redis.emit('error', new Error('WRONGPASS'));
    redis.emit('ready');
    redis.emit('error', new Error('cut'));
    redis.emit('error', new Error('refused'));
    redis.emit('ready');
    expect(lines).toEqual([
      'Redis connection failed: WRONGPASS',
      'Redis connection restored',
      'Redis connection lost: cut',
      'Redis connection restored',
    ]);
  });
});

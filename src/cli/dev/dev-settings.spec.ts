import { describe, expect, it } from '@jest/globals';
import { loadSettings } from '../../config/settings.js';
import { hasLocalServers } from './dev-settings.js';

const { settings } = loadSettings();

describe('hasLocalServers', () => {
  it.each([
    [['127.0.0.1:9092', 'localhost:9093'], 'redis://127.0.0.1:6379', true],
    [['[::1]:9092'], 'rediss://user:word@localhost/1', true],
    [['127.0.0.1:9092', 'kafka.staging:9092'], 'redis://127.0.0.1:6379', false],
    [['127.0.0.1:9092'], 'redis://redis.staging:6379', false],
    [['127.0.0.1:9092'], 'redis+cluster://127.0.0.1:7000,[::1]:7001', true],
    [['127.0.0.1:9092'], 'redis+cluster://127.0.0.1:7000,redis.staging:7001', false],
    [['127.0.0.1:9092'], 'rediss+sentinel://user:word@localhost:26379/main', true],
  ])('of %p and %s is %p', (kafkaBrokers, redisUrl, isLocal) => {
    expect(hasLocalServers({ ...settings, kafkaBrokers, redisUrl })).toBe(isLocal);
  });
});

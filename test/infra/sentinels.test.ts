import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { loadSettings } from '../../src/config/settings.js';
import { createRedis } from '../../src/infra/redis.js';
import { SILENT } from '../support/loggers.js';
import { SentinelSet } from '../support/sentinel-set.js';

describe('a client of sentinels, with a login in REDIS_URL', () => {
  const user = ['on', '>word', '~*', '&*', '+@all'];
  let set: SentinelSet;
  beforeAll(async () => {
    set = await SentinelSet.start();
    for (const { redis } of set.servers) await redis.call('ACL', 'SETUSER', 'ranklog', ...user);
  });
  afterAll(() => set.remove());

  /** The user that the primary sees. */
  async function connectedUser(): Promise<unknown> {
    const REDIS_URL = set.url.replace('//', '//ranklog:word@');
    const redis = createRedis(loadSettings({ REDIS_URL }).settings, SILENT);
    try {
      await redis.connect();
      return await redis.call('ACL', 'WHOAMI');
    } finally {
      redis.disconnect();
    }
  }

  it('asks sentinels without a login, and those that need one with it, and prints no warning', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    expect(await connectedUser()).toBe('ranklog');
    for (const { redis } of set.sentinels) {
      await redis.call('ACL', 'SETUSER', 'ranklog', 'on', '>word', '+@all');
      await redis.call('ACL', 'SETUSER', 'default', 'off');
    }
    expect(await connectedUser()).toBe('ranklog');
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RedisClient } from '#board-store';
import { readScript } from '../../libs/board-store/lua/script-text.js';
import { SCRIPTS } from '../../libs/board-store/lua/scripts.js';
import { loadSettings } from '../../src/config/settings.js';
import { createRedis } from '../../src/infra/redis.js';
import { eventually } from '../support/eventually.js';
import { SILENT } from '../support/loggers.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { arena, scored, StoreFixture } from './fixture.js';

const READONLY = /^READONLY .* is a replica/;

describe('a Redis that has become a replica, without a closed connection', () => {
  let server: RedisServer;
  let fixture: StoreFixture;
  let replica: RedisServer | undefined;
  beforeEach(async () => {
    server = await RedisServer.start();
    fixture = await new StoreFixture(server.redis, server.newKeys()).register(arena);
    await fixture.apply([scored('ada', [3]), scored('bob', [2])]);
  });
  afterEach(async () => {
    await replica?.remove();
    replica = undefined;
    await server.remove();
  });

  it('refuses every script, also with its primary away', async () => {
    await server.redis.replicaof('127.0.0.1', '1');
    for (const script of SCRIPTS) {
      const { text, keys } = readScript(script);
      const calling = server.redis.eval(text, keys.length, ...keys);
      await expect(calling).rejects.toThrow(READONLY);
    }
    await server.redis.replicaof('NO', 'ONE');
    expect(await fixture.reader().standings('arena')).toMatchObject({ size: 2, stale: true });
  });

  it('gives a reader no boards', async () => {
    const reader = fixture.reader();
    expect(await reader.boards()).toHaveLength(1);
    await server.redis.replicaof('127.0.0.1', '1');
    await expect(reader.boards()).rejects.toThrow(READONLY);
    await expect(reader.standings('arena')).rejects.toThrow(READONLY);
    await expect(reader.standings('unknown')).rejects.toThrow(READONLY);
  });

  it('is never ready for a client of ours, until it is the primary again', async () => {
    await server.redis.replicaof('127.0.0.1', '1');
    const url = `redis://127.0.0.1:${server.port}`;
    const own = createRedis(loadSettings({ REDIS_URL: url }).settings, SILENT);
    const events: string[] = [];
    own.on('ready', () => events.push('ready'));
    own.on('error', ({ message }: Error) => events.push(message));
    try {
      own.connect().catch(() => undefined); // it connects again
      await eventually(() => events.some((event) => READONLY.test(event)), 'it is found out');
      expect(events).not.toContain('ready');
      await server.redis.replicaof('NO', 'ONE');
      await eventually(() => events.includes('ready'), 'the client is ready');
    } finally {
      own.disconnect();
    }
  });

  describe('and another server is the primary at its address', () => {
    let proxy: TcpProxy;
    let redis: RedisClient | undefined;
    beforeEach(async () => {
      proxy = await TcpProxy.to({ host: '127.0.0.1', port: server.port });
    });
    afterEach(async () => {
      redis?.disconnect();
      await proxy.close();
    });

    /** Promotes a replica, and makes the server the replica of that. */
    const changeRoles = async () => {
      replica = await RedisServer.start('--replicaof', '127.0.0.1', String(server.port));
      const isInStep = async () => (await replica!.redis.get('marker')) !== null;
      await server.redis.set('marker', '');
      await eventually(isInStep, 'the replica has all data');
      await replica.redis.replicaof('NO', 'ONE');
      await replica.redis.set('mark', 'new');
      proxy.retarget({ host: '127.0.0.1', port: replica.port });
      await server.redis.replicaof('127.0.0.1', '1');
    };
    const url = () => `redis://127.0.0.1:${proxy.port}`;

    it('a client of ours gets no data from plain commands, and goes to the primary', async () => {
      const own = createRedis(loadSettings({ REDIS_URL: url() }).settings, SILENT);
      redis = own;
      await own.connect();
      await server.redis.set('mark', 'old');
      expect(await own.get('mark')).toBe('old');
      await changeRoles();
      const answers: (string | null)[] = [];
      await eventually(async () => {
        const answer = await own.get('mark').catch((error: unknown) => String(error));
        answers.push(answer);
        return answer === 'new';
      }, 'the client reads from the primary');
      expect(answers).not.toContain('old');
      expect(answers[0]).toMatch(/READONLY|not connected/);
    });

    it('a client of ours that sends nothing goes to the primary by itself', async () => {
      const own = createRedis(loadSettings({ REDIS_URL: url() }).settings, SILENT);
      redis = own;
      await own.connect();
      const before = (await server.redis.client('LIST')) as string;
      await changeRoles();
      const isGone = async () => {
        const now = (await server.redis.client('LIST')) as string;
        return now.split('\n').length < before.split('\n').length && own.status === 'ready';
      };
      await eventually(isGone, 'the client has left the replica');
      expect(await own.get('mark')).toBe('new');
    });

    it("a reader's client goes to the primary with reconnectOnError, as the docs say", async () => {
      redis = new Redis(url(), {
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
      });
      redis.on('error', () => undefined);
      const reader = new StoreFixture(redis, fixture.keys).reader();
      expect(await reader.player('arena', 'ada')).toMatchObject({ stale: false });
      await changeRoles();
      await expect(reader.player('arena', 'ada')).rejects.toThrow(READONLY);
      expect(await reader.player('arena', 'ada')).toMatchObject({
        stale: true,
        standing: { rank: 1 },
      });
    });
  });
});

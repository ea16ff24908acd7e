import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LEASE_MS, type Lease, type LeaseStore } from '#board-store';
import { SILENT } from '../../../test/support/loggers.js';
import type { Settings } from '../../config/settings.js';
import { createRedis } from '../../infra/redis.js';
import { RunLeases } from './run-leases.js';

const settings = { redisUrl: 'redis://localhost' } as Settings;
const { commandTimeout = Infinity } = (createRedis(settings, SILENT) as Redis).options;

/** Its renewals of some boards hang until the command timeout. */
class FakeLeases {
  readonly renewals = new Map<string, number[]>();

  acquire(board: string): Promise<Lease> {
    return Promise.resolve({ board, token: '' });
  }

  async renew({ board }: Lease): Promise<void> {
    this.renewals.set(board, [...(this.renewals.get(board) ?? []), performance.now()]);
    if (!board.startsWith('hangs')) return;
    await new Promise((resolve) => setTimeout(resolve, commandTimeout));
    throw new Error('Command timed out');
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('renews the leases of the other boards in time while renewals hang', async () => {
  const fake = new FakeLeases();
  const leases = fake as unknown as LeaseStore;
  const boards = ['arena', 'hangs', 'hangs too', 'puzzle'];
  const held = await RunLeases.acquire(boards, { leases, logger: SILENT, kind: 'build' });
  await jest.advanceTimersByTimeAsync(60_000);
  for (const board of ['arena', 'puzzle']) {
    const times = fake.renewals.get(board) ?? [];
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    expect(gaps.length).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(LEASE_MS - commandTimeout);
  }
  const closed = held.close();
  await jest.advanceTimersByTimeAsync(commandTimeout);
  await closed;
});

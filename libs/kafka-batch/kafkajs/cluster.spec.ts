import { describe, expect, it } from '@jest/globals';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { SharedClusters } from './cluster.js';

/** Clusters without connections; `log` has the calls. */
function fixture({ most = 2, failures = [] }: { most?: number; failures?: Error[] } = {}) {
  const log: string[] = [];
  let made = 0;
  const clusters = new SharedClusters(() => {
    const name = String(made++);
    return {
      connect: () => {
        log.push(`connect ${name}`);
        const failure = failures.shift();
        return failure ? Promise.reject(failure) : Promise.resolve();
      },
      disconnect: () => Promise.resolve(void log.push(`disconnect ${name}`)),
    } as unknown as Cluster;
  }, most);
  return { clusters, log };
}

describe('shared clusters', () => {
  it('stay within their limit, and the next user gets the cluster with the fewest users', async () => {
    const { clusters, log } = fixture();
    const leases = await Promise.all([1, 2, 3, 4].map(() => clusters.lease()));
    expect(log).toEqual(['connect 0', 'connect 1']);
    expect(new Set(leases.map(({ cluster }) => cluster)).size).toBe(2);
    await leases[3]?.release();
    expect((await clusters.lease()).cluster).toBe(leases[1]?.cluster);
  });

  it('are disconnected by their last user', async () => {
    const { clusters, log } = fixture({ most: 1 });
    const [one, other] = await Promise.all([clusters.lease(), clusters.lease()]);
    await one.release();
    await one.release();
    expect(log).toEqual(['connect 0']);
    await other.release();
    expect(log).toEqual(['connect 0', 'disconnect 0']);
    await clusters.lease();
    expect(log.at(-1)).toBe('connect 1');
  });

  it('get no new users after a failure; present users keep them', async () => {
    const { clusters, log } = fixture({ most: 1 });
    const [failed, other] = await Promise.all([clusters.lease(), clusters.lease()]);
    failed.retire();
    expect((await clusters.lease()).cluster).not.toBe(other.cluster);
    await failed.release();
    expect(log).toEqual(['connect 0', 'connect 1']);
    await other.release();
    expect(log.at(-1)).toBe('disconnect 0');
  });

  it('are disconnected if they fail to connect', async () => {
    const { clusters, log } = fixture({ most: 1, failures: [new Error('no connection')] });
    const both = await Promise.allSettled([clusters.lease(), clusters.lease()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(log).toEqual(['connect 0', 'disconnect 0']);
    await clusters.lease();
    expect(log.at(-1)).toBe('connect 1');
  });
});

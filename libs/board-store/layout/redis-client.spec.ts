import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { replicaErrorOf } from './redis-client.js';

describe('a server', () => {
  it('is a primary if it says so, and only then', () => {
    expect(replicaErrorOf({ role: 'master' })).toBeUndefined();
    const replica = { role: 'slave', master_host: '::1', master_port: '6379' };
    expect(replicaErrorOf(replica)?.message).toContain('a replica of ::1:6379, whose');
    for (const role of ['active-replica', 'replica', '', undefined])
      expect(replicaErrorOf({ role })?.message).toContain('a replica of an unknown server');
  });

  it('is tested by the same rule in scripts', () => {
    const script = readFileSync(new URL('../lua/includes/base.lua', import.meta.url), 'utf8');
    expect(script).toContain("string.find(replication, 'role:master', 1, true)");
  });
});

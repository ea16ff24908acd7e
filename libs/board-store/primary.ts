import type { Redis } from 'ioredis';

/** Scripts and writes get such an error from a replica; plain reads get data that may be old. */
export class ReplicaError extends Error {
  constructor(primary: string) {
    super(`READONLY this Redis is a replica of ${primary}, whose data may be old`);
    this.name = 'ReplyError'; // the name that ioredis gives to errors of a server
  }
}

/** Shows that a primary answered, if it is called after a read on the same connection. @throws ReplicaError */
export async function requirePrimary(redis: Redis): Promise<void> {
  const info = await redis.info('replication');
  const field = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
  if (field('role') !== 'slave') return;
  throw new ReplicaError(`${field('master_host')}:${field('master_port')}`);
}

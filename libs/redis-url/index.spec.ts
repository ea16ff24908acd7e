import { describe, expect, it } from '@jest/globals';
import { parseRedisUrl, type RedisAddress } from './index.js';

const ADDRESSES: [string, Partial<RedisAddress>][] = [
  ['redis://redis', { nodes: [{ host: 'redis', port: 6_379 }] }],
  ['redis://user:word@redis:1/2?db=3', { nodes: [{ host: 'redis', port: 1 }] }],
  ['rediss://[::1]:1', { hasTls: true, nodes: [{ host: '::1', port: 1 }] }],
  [
    'redis+cluster://one:1,two,[::1]:3,[fe80::1]',
    {
      kind: 'cluster',
      nodes: [
        { host: 'one', port: 1 },
        { host: 'two', port: 6_379 },
        { host: '::1', port: 3 },
        { host: 'fe80::1', port: 6_379 },
      ],
    },
  ],
  [
    'rediss+cluster://user:p%40ss%2F%3A%2C:word@one:1/',
    {
      kind: 'cluster',
      hasTls: true,
      nodes: [{ host: 'one', port: 1 }],
      username: 'user',
      password: 'p@ss/:,:word',
    },
  ],
  [
    'redis+cluster://:word@one:1',
    { kind: 'cluster', nodes: [{ host: 'one', port: 1 }], password: 'word' },
  ],
  [
    'redis+sentinel://one:1,two/main',
    {
      kind: 'sentinel',
      nodes: [
        { host: 'one', port: 1 },
        { host: 'two', port: 26_379 },
      ],
      primary: 'main',
    },
  ],
  [
    'rediss+sentinel://us%C3%A9r:word@one/main',
    {
      kind: 'sentinel',
      hasTls: true,
      nodes: [{ host: 'one', port: 26_379 }],
      primary: 'main',
      username: 'usér',
      password: 'word',
    },
  ],
];

describe('parseRedisUrl', () => {
  it.each(ADDRESSES)('takes %s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'server', hasTls: false, ...address });
  });

  it.each([
    '',
    'one:1',
    'http://one:1',
    'redis://',
    'redis://one:70000',
    'redis+cluster://',
    'redis+cluster://,',
    'redis+cluster://one:1,',
    'redis+cluster://one:1, two:2',
    'redis+cluster://one:1/0',
    'redis+cluster://one:1?db=0',
    'redis+cluster://one:70000',
    'redis+cluster://one:0',
    'redis+cluster://::1:1',
    'redis+cluster://us%er:word@one:1',
    'redis+cluster://user:%zz@one:1',
    'redis+cluster://user:w@rd@one:1',
    'redis+sentinel://one:1',
    'redis+sentinel://one:1/',
    'redis+sentinel://one:1/main/0',
    'redis+sentinel:///main',
    'redis+servers://one:1',
  ])('refuses %p', (url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});

import { randomInt } from 'node:crypto';
import getPort from 'get-port';

/**
 * A free port of 127.0.0.1 for a server that binds it later, or again after a restart. It is below
 * the ports that systems give to outgoing connections, one of which could take the port meanwhile.
 */
export function freePort(): Promise<number> {
  const port = Array.from({ length: 100 }, () => randomInt(10_000, 32_000));
  return getPort({ host: '127.0.0.1', port });
}

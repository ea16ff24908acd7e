/** What ioredis fails a command with while there is no server that answers: it has no classes for that. */
const CLIENT =
  /^(Command timed out|Connection is closed|Stream isn't writeable|Reached the max retries per request limit)/;

/** Replies of a server that can't do it now, also those of a script. */
const SERVER = /\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|NOREPLICAS|MISCONF) /;

const SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']);

/** Whether a command failed because Redis is away, full or busy: then it helps to try again later. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'ReplyError') return SERVER.test(error.message);
  const { code } = error as NodeJS.ErrnoException;
  return CLIENT.test(error.message) || (code !== undefined && SYSTEM.has(code));
}

import { RanklogError } from '#errors';

/**
 * The times of continuity tokens by shard, in µs of their servers. They are the metadata of each
 * committed offset, so that a server of Redis that another one has replaced can be told from it.
 */
export type ContinuityTimes = readonly number[];

/** 256 shards take 2,732 of the 4,096 bytes that brokers take as metadata. */
const BYTES_OF_A_TIME = 8;

/**
 * Another server has become the primary of a shard, while this process still uses the one before:
 * two act as primary. The partition starts again, until the client finds the new one.
 */
export class ReplacedServerError extends RanklogError {
  /** A new process may find the new server. */
  override readonly retriable = true;

  constructor(shard: number, { used, newest }: { readonly used: number; readonly newest: number }) {
    super(
      `shard ${shard} is on a Redis server that another one has replaced: this one was compared with Kafka at ${textOf(used)}, ` +
        `the other one at ${textOf(newest)}. Results are published only on the newer one. If this server is to be used ` +
        'again, restart it',
    );
  }
}

/** When a token was made, in µs of the server's clock. */
export function timeOf(token: string): number {
  return Number(token.slice(token.indexOf(' ') + 1));
}

export function encodeTimes(times: ContinuityTimes): string {
  const bytes = Buffer.alloc(times.length * BYTES_OF_A_TIME);
  for (const [shard, time] of times.entries())
    bytes.writeBigUInt64BE(BigInt(time), shard * BYTES_OF_A_TIME);
  return bytes.toString('base64');
}

/** Returns [] for the metadata of a version that wrote none. */
export function decodeTimes(metadata: string): ContinuityTimes {
  const bytes = Buffer.from(metadata, 'base64');
  const count = Math.floor(bytes.length / BYTES_OF_A_TIME);
  return Array.from({ length: count }, (_, shard) =>
    Number(bytes.readBigUInt64BE(shard * BYTES_OF_A_TIME)),
  );
}

/** The later time of each shard. */
export function latestTimes(one: ContinuityTimes, other: ContinuityTimes): ContinuityTimes {
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  return longer.map((time, shard) => Math.max(time, shorter[shard] ?? 0));
}

/**
 * Checks that the server of a shard, which was compared with Kafka at the time `used`, is the
 * newest one of which results are published.
 * @throws ReplacedServerError
 */
export function requireNewest(shard: number, used: number, newest: ContinuityTimes): void {
  const latest = newest[shard] ?? 0;
  if (latest > used) throw new ReplacedServerError(shard, { used, newest: latest });
}

function textOf(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}

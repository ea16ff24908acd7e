import { RanklogError } from '#errors';

/**
 * The times of continuity tokens by shard, in µs by the clocks of their servers. They are the
 * metadata of each committed offset, so that a process can recognise a replaced server of Redis.
 */
export type ContinuityTimes = readonly number[];

/** For 256 shards, the metadata has 2,732 bytes. Brokers accept 4,096. */
const BYTES_OF_A_TIME = 8;

/** How long a replaced server is refused before it takes over: the newer one may be gone. */
export const REFUSED_MS = 30_000;

/**
 * Another server has become the primary of shards, while this process still uses the previous one:
 * both act as primary. The partition starts again until the client finds the new primary.
 */
export class ReplacedServerError extends RanklogError {
  /** A new process may find the new server. */
  override readonly retriable = true;

  /** `usedAt`: by shard, when its server was compared with Kafka. */
  constructor(
    readonly usedAt: ReadonlyMap<number, number>,
    newest: ContinuityTimes,
  ) {
    const [first] = usedAt;
    const [shard, time] = first ?? [0, 0];
    const others = usedAt.size > 1 ? ` (and ${usedAt.size - 1} more)` : '';
    super(
      `shard ${shard}${others} is on a Redis server that another one has replaced: this one ` +
        `was compared with Kafka at ${textOf(time)}, the other one at ` +
        `${textOf(newest[shard] ?? 0)}. Nothing is published meanwhile; if this goes on for ` +
        `${REFUSED_MS / 1_000} s, this server takes over`,
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

/** Returns [] for metadata of other programs, and of versions that wrote none. */
export function decodeTimes(metadata: string): ContinuityTimes {
  const bytes = Buffer.from(metadata, 'base64');
  if (bytes.length % BYTES_OF_A_TIME !== 0 || bytes.toString('base64') !== metadata) return [];
  const times = Array.from({ length: bytes.length / BYTES_OF_A_TIME }, (_, shard) =>
    Number(bytes.readBigUInt64BE(shard * BYTES_OF_A_TIME)),
  );
  return times.every(Number.isSafeInteger) ? times : [];
}

/** The later time of each shard. */
export function latestTimes(one: ContinuityTimes, other: ContinuityTimes): ContinuityTimes {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, shard) => Math.max(one[shard] ?? 0, other[shard] ?? 0));
}

/**
 * Checks that no shard is on an older server than the newest one on which results were computed.
 * `used`: by shard, when its server was compared with Kafka.
 * @throws ReplacedServerError
 */
export function requireNewest(
  used: Iterable<readonly [shard: number, time: number]>,
  newest: ContinuityTimes,
): void {
  const older = [...used].filter(([shard, time]) => (newest[shard] ?? 0) > time);
  if (older.length > 0) throw new ReplacedServerError(new Map(older), newest);
}

function textOf(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}

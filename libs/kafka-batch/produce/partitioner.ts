// To change the partition of an event: change it here, for all producers.
// libs/client/score-producer.ts sends, and src/ingest/misplacement.ts finds events in other
// partitions. `publish` in src/ingest/result-log.ts chooses the partition of a result.

const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;

/** The partition that the producers of ranklog, of kafkajs and of Java choose for a key. */
export function partitionOf(key: string | Buffer, partitions: number): number {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  const positive = murmur2(bytes) & 0x7fffffff;
  return positive % partitions;
}

/**
 * Returns the same hash as murmur2 of kafkajs, whose 64-bit objects cost ten times as much: ingest
 * hashes the key of every event.
 */
export function murmur2(data: Buffer): number {
  const { length } = data;
  const tail = length - (length % 4);
  let hash = SEED ^ length;
  for (let at = 0; at < tail; at += 4) {
    let word = Math.imul(data.readInt32LE(at), MULTIPLIER);
    word = Math.imul(word ^ (word >>> 24), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  if (length > tail) {
    for (let at = length - 1; at >= tail; at--) hash ^= (data[at] ?? 0) << (8 * (at - tail));
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

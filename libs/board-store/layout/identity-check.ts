import { identityIn, VERSION } from './boards.js';
import type { KeySpace } from './keys.js';
import { OtherIdentityError } from './store-errors.js';
import type { Identity } from './types.js';
import type { RedisClient } from './redis-client.js';

/** The place of an identity in Redis, for `compare`. */
export const REDIS = 'Redis';

const ORIGINS: Readonly<Record<keyof Identity, string>> = {
  cluster: 'the Kafka cluster (KAFKA_BROKERS)',
  topicPrefix: 'RANKLOG_TOPIC_PREFIX',
  group: 'RANKLOG_GROUP',
  redisPrefix: 'RANKLOG_REDIS_PREFIX',
  shards: 'RANKLOG_SHARDS',
};

/** Compares the identity that Redis or Kafka stores with the one of this process. */
export class IdentityCheck {
  /** The identity of this process, in the form in which Redis and Kafka store an identity. */
  readonly text: string;
  /** Called with the first difference found while the process runs; the process then has to end. */
  onOther: (error: OtherIdentityError) => void = () => undefined;

  constructor(readonly ours: Partial<Identity>) {
    this.text = JSON.stringify(ours);
  }

  /** The consumer group of ingest. */
  get group(): string {
    return this.ours.group ?? '';
  }

  /**
   * `kept` has the form of `text`, or is empty. A part that either side lacks is no difference.
   * @throws OtherIdentityError
   */
  compare(kept: string, where: string): void {
    if (kept === '' || kept === this.text) return;
    const theirs = JSON.parse(kept) as Partial<Identity>;
    const parts = this.#differing(theirs);
    if (parts.length === 0) return;
    const isMovable = where !== REDIS || !parts.includes('shards');
    const error = new OtherIdentityError(where, theirs, this.differences(theirs), isMovable);
    this.onOther(error);
    this.onOther = () => undefined;
    throw error;
  }

  /** Says in which parts another identity differs, with both values. */
  differences(theirs: Partial<Identity>): string[] {
    return this.#differing(theirs).map(
      (part) => `${ORIGINS[part]} is ${theirs[part]} there and ${this.ours[part]} here`,
    );
  }

  #differing(theirs: Partial<Identity>): (keyof Identity)[] {
    const { ours } = this;
    return (Object.keys(ORIGINS) as (keyof Identity)[]).filter(
      (part) => (ours[part] ?? theirs[part]) !== (theirs[part] ?? ours[part]),
    );
  }
}

/** The identity that Redis stores, in the form of `IdentityCheck.text`; empty for none. */
export async function storedIdentity(redis: RedisClient, keys: KeySpace): Promise<string> {
  const version = await redis.hget(keys.live(0), VERSION);
  return identityIn(version ?? '');
}

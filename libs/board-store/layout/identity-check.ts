import { identityIn, VERSION } from './boards.js';
import type { KeySpace } from './keys.js';
import { OtherIdentityError } from './store-errors.js';
import type { Identity } from './types.js';
import type { RedisClient } from './redis-client.js';

/** The argument `where` of `compare` for an identity in Redis. */
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
  /** The identity of this process, in the form that Redis and Kafka store. */
  readonly text: string;
  /** Called with the first difference that is found. The process then has to end. */
  onOther: (error: OtherIdentityError) => void = () => undefined;

  constructor(readonly ours: Partial<Identity>) {
    this.text = JSON.stringify(ours);
  }

  /** The consumer group of ingest. */
  get group(): string {
    return this.ours.group ?? '';
  }

  /**
   * Compares a stored identity: '', or a text in the form of `text`. Ignores settings that only one
   * side has.
   * @throws OtherIdentityError
   */
  compare(stored: string, where: string): void {
    if (stored === '' || stored === this.text) return;

    const theirs = JSON.parse(stored) as Partial<Identity>;
    const parts = this.#differing(theirs);
    if (parts.length === 0) return;

    const isMovable = where !== REDIS || !parts.includes('shards');
    const error = new OtherIdentityError(where, theirs, this.differences(theirs), isMovable);
    this.onOther(error);
    this.onOther = () => undefined;
    throw error;
  }

  /** Describes each setting that differs in another identity, with both values. */
  differences(theirs: Partial<Identity>): string[] {
    return this.#differing(theirs).map(
      (part) => `${ORIGINS[part]} is ${theirs[part]} there and ${this.ours[part]} here`,
    );
  }

  #differing(theirs: Partial<Identity>): (keyof Identity)[] {
    const parts = Object.keys(ORIGINS) as (keyof Identity)[];
    return parts.filter((part) => {
      const our = this.ours[part];
      const their = theirs[part];
      return our !== undefined && their !== undefined && our !== their;
    });
  }
}

/** The identity that Redis stores, in the form of `IdentityCheck.text`; '' if it has none. */
export async function storedIdentity(redis: RedisClient, keys: KeySpace): Promise<string> {
  const version = await redis.hget(keys.live(0), VERSION);
  return identityIn(version ?? '');
}

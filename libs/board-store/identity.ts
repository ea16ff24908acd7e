import { OtherIdentityError } from './errors.js';
import type { Identity } from './types.js';

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

  /** `kept` has the form of `text`, or is empty. A part that either side lacks is no difference. @throws OtherIdentityError */
  compare(kept: string, where: string): void {
    if (kept === '' || kept === this.text) return;
    const { ours } = this;
    const theirs = JSON.parse(kept) as Partial<Identity>;
    const parts = (Object.keys(ORIGINS) as (keyof Identity)[]).filter(
      (part) => (ours[part] ?? theirs[part]) !== (theirs[part] ?? ours[part]),
    );
    if (parts.length === 0) return;
    const texts = parts.map((part) => `${ORIGINS[part]} is ${theirs[part]} there and ${ours[part]} here`); // prettier-ignore
    const error = new OtherIdentityError(where, theirs, texts, !parts.includes('shards'));
    this.onOther(error);
    this.onOther = () => undefined;
    throw error;
  }
}

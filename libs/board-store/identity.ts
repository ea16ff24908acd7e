/** The settings that make one ranklog. Two ranklogs on one topic or Redis would publish every result twice. */
export interface Identity {
  /** The id of the Kafka cluster. */
  readonly cluster: string;
  readonly topicPrefix: string;
  readonly group: string;
  readonly redisPrefix: string;
  readonly shards: number;
}

/** The setting behind each part. */
const ORIGINS: Readonly<Record<keyof Identity, string>> = {
  cluster: 'the Kafka cluster (KAFKA_BROKERS)',
  topicPrefix: 'RANKLOG_TOPIC_PREFIX',
  group: 'RANKLOG_GROUP',
  redisPrefix: 'RANKLOG_REDIS_PREFIX',
  shards: 'RANKLOG_SHARDS',
};

/** This process has other settings than Redis or Kafka keeps. Trying again does not help. */
export class OtherIdentityError extends Error {
  constructor(
    where: string,
    readonly kept: Partial<Identity>,
    readonly differences: readonly string[],
    /** False if the number of shards differs: it decides where each board is. */
    readonly isMovable: boolean,
  ) {
    super(
      `${where} belongs to a ranklog with other settings: ${differences.join(', ')}. Together they would publish every result twice. Set the values kept there; or ` +
        (isMovable
          ? 'move it to these settings with "ranklog topics --adopt"'
          : 'start anew with another RANKLOG_REDIS_PREFIX, RANKLOG_GROUP and RANKLOG_TOPIC_PREFIX, as the number of shards cannot change'),
    );
    this.name = 'OtherIdentityError';
  }
}

/** Compares what Redis and Kafka keep with the identity of this process. */
export class IdentityCheck {
  /** The form in which Redis and Kafka keep it. */
  readonly text: string;
  /** Called with the first difference found while the process runs, which then has to end. */
  onOther: (error: OtherIdentityError) => void = () => undefined;

  constructor(readonly ours: Partial<Identity>) {
    this.text = JSON.stringify(ours);
  }

  /** `kept` is a text as above, empty for none. A part that either side lacks is no difference. @throws OtherIdentityError */
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

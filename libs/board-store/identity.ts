/** What makes one ranklog. Two that share a topic or a Redis would publish every result twice. */
export interface Identity {
  /** The id of the Kafka cluster. */
  readonly cluster: string;
  readonly topicPrefix: string;
  readonly group: string;
  readonly redisPrefix: string;
  readonly shards: number;
}

/** Where each part comes from. */
const ORIGINS: Readonly<Record<keyof Identity, string>> = {
  cluster: 'the Kafka cluster (KAFKA_BROKERS)',
  topicPrefix: 'RANKLOG_TOPIC_PREFIX',
  group: 'RANKLOG_GROUP',
  redisPrefix: 'RANKLOG_REDIS_PREFIX',
  shards: 'RANKLOG_SHARDS',
};

/** The settings of this process are not those that Redis or Kafka keeps. Trying again does not help. */
export class OtherIdentityError extends Error {
  constructor(
    where: string,
    readonly kept: Partial<Identity>,
    readonly differences: readonly string[],
    /** The number of shards says where each board is, so it stays. */
    readonly isMovable: boolean,
  ) {
    super(
      `${where} belongs to a ranklog with other settings: ${differences.join(', ')}. Two of them would publish every result twice. Set what is kept there; or ` +
        (isMovable
          ? 'move it to these settings with "ranklog topics --adopt"'
          : 'start anew with another RANKLOG_REDIS_PREFIX, RANKLOG_GROUP and RANKLOG_TOPIC_PREFIX: the number of shards stays'),
    );
    this.name = 'OtherIdentityError';
  }
}

/** Compares what Redis and Kafka keep with the identity of this process. */
export class IdentityCheck {
  /** How it is kept. */
  readonly text: string;
  /** Hears of the first difference that is found while the process runs: it has to end. */
  onOther: (error: OtherIdentityError) => void = () => undefined;

  constructor(readonly ours: Partial<Identity>) {
    this.text = JSON.stringify(ours);
  }

  /** `kept` is such a text, empty for none. A part that one of them lacks is no difference. @throws OtherIdentityError */
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

/** Headers as Kafka clients return them. */
export type RecordHeaders = Readonly<
  Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>
>;

export interface RawRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

/** The text of a header; of the last one if the header is repeated. */
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  return lastHeader(headers, name)?.toString();
}

/** A header as it was sent; if it is repeated, the last one. undefined if it is missing or has no value. */
export function lastHeader(headers: RecordHeaders, name: string): Buffer | string | undefined {
  const value = headers[name];
  const last = Array.isArray(value) ? (value as readonly (Buffer | string)[]).at(-1) : value;
  return (last as Buffer | string | null | undefined) ?? undefined;
}

/** The place of a record in Kafka; in a result, that of the score event that caused it. */
export interface Source {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** `topic/partition/offset`: the id, or the start of the id, of each result of a record. Subscribers can deduplicate by it. */
export function causeId({ topic, partition, offset }: Source): string {
  return `${topic}/${partition}/${offset}`;
}

/** The topics of one ranklog. Results of partition p of the score topic are in partition p of the result topics. */
export type TopicNames = Readonly<
  Record<'scoreEvents' | 'rankChanges' | 'leaderChanges' | 'definitions' | 'deadLetters', string>
>;

export function topicNames(prefix = 'ranklog'): TopicNames {
  return {
    scoreEvents: `${prefix}.score-events`,
    rankChanges: `${prefix}.rank-changes`,
    leaderChanges: `${prefix}.leader-changes`,
    definitions: `${prefix}.definitions`,
    deadLetters: `${prefix}.dead-letters`,
  };
}

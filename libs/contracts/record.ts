/** Headers as Kafka clients return them. */
export type RecordHeaders = Readonly<
  Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>
>;

/** Headers that are still bytes. Each read takes linear time. */
export interface EncodedHeaders {
  /** A repeated header counts as several. */
  readonly count: number;
  readonly byteLength: number;
  last(name: string): Buffer | undefined;
  text(name: string): string | undefined;
}

/** The decoded headers of a record. Records that ranklog read itself also have them as bytes. */
export interface HeadedRecord {
  readonly headers: RecordHeaders;
  readonly encodedHeaders?: EncodedHeaders | undefined;
}

export interface RawRecord extends HeadedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/**
 * A record with more headers becomes a dead letter without its headers: Kafka clients such as
 * kafkajs take quadratic time for headers, 5 ms for this many.
 */
export const MAX_HEADERS = 256;

/** Ranklog adds up to 11 headers to a dead letter, and 2 to a retry for each record before it. */
const MAX_OWN_HEADERS = 64;

/**
 * Whether a record has more than MAX_HEADERS headers, not counting those that ranklog has added.
 * Cost: usually one comparison.
 */
export function hasTooManyHeaders(record: HeadedRecord): boolean {
  const count = headerCount(record);
  if (count <= MAX_HEADERS) return false;
  if (count > MAX_HEADERS + MAX_OWN_HEADERS) return true;
  const others = Object.entries(record.headers).filter(([name]) => !name.startsWith('ranklog_'));
  return headerCount({ headers: Object.fromEntries(others) }) > MAX_HEADERS;
}

/** How many headers a record has. A repeated header counts as several. */
export function headerCount(record: HeadedRecord): number {
  if (record.encodedHeaders !== undefined) return record.encodedHeaders.count;
  let count = 0;
  for (const name in record.headers) {
    const value = record.headers[name];
    count += Array.isArray(value) ? value.length : 1;
  }
  return count;
}

/** The text of a header; of the last one if the header is repeated. */
export function headerText(record: HeadedRecord, name: string): string | undefined {
  const { encodedHeaders } = record;
  if (encodedHeaders !== undefined) return encodedHeaders.text(name);
  return lastHeader(record, name)?.toString();
}

/** A header as it was sent; the last one if it is repeated. undefined if it has no value. */
export function lastHeader(record: HeadedRecord, name: string): Buffer | string | undefined {
  const { encodedHeaders } = record;
  if (encodedHeaders !== undefined) return encodedHeaders.last(name);
  const value = record.headers[name];
  const last = Array.isArray(value) ? (value as readonly (Buffer | string)[]).at(-1) : value;
  return (last as Buffer | string | null | undefined) ?? undefined;
}

/** The place of a record in Kafka; in a result, that of the score event that caused it. */
export interface Source {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/**
 * `topic/partition/offset`: the id, or the start of the id, of each result of a record. Subscribers
 * can deduplicate by it.
 */
export function causeId({ topic, partition, offset }: Source): string {
  return `${topic}/${partition}/${offset}`;
}

/**
 * The topics of one ranklog. Results of partition p of the score topic are in partition p of the
 * result topics.
 */
export type TopicNames = Readonly<
  Record<
    | 'scoreEvents'
    | 'rankChanges'
    | 'leaderChanges'
    | 'periodResults'
    | 'definitions'
    | 'deadLetters',
    string
  >
>;

export function topicNames(prefix = 'ranklog'): TopicNames {
  return {
    scoreEvents: `${prefix}.score-events`,
    rankChanges: `${prefix}.rank-changes`,
    leaderChanges: `${prefix}.leader-changes`,
    periodResults: `${prefix}.period-results`,
    definitions: `${prefix}.definitions`,
    deadLetters: `${prefix}.dead-letters`,
  };
}

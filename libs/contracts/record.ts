/** Headers as Kafka clients hand them over. */
export type RecordHeaders = Readonly<
  Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>
>;

/** What of a Kafka record the contracts look at. */
export interface RawRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

/** The text of a header, of the last one if it is there more than once. */
export function headerText(headers: RecordHeaders, name: string): string | undefined {
  return lastHeader(headers, name)?.toString();
}

/** A header as it was sent, the last one if it is there more than once; undefined also for one without a value. */
export function lastHeader(headers: RecordHeaders, name: string): Buffer | string | undefined {
  const value = headers[name];
  const last = Array.isArray(value) ? (value as readonly (Buffer | string)[]).at(-1) : value;
  return (last as Buffer | string | null | undefined) ?? undefined;
}

/** A position in the topic of rank changes: by partition, the offset from which on records are still to come. */
export type LogPosition = readonly number[];

/** The id of an event: the offsets in base 36, such as `0.2s.1`. */
export function positionText(position: LogPosition): string {
  return position.map((offset) => offset.toString(36)).join('.');
}

/** The position of an id; new partitions begin at 0. undefined if the text is no position in a topic of so many partitions. */
export function parsePosition(text: string, partitions: number): LogPosition | undefined {
  const offsets = text.split('.').map((word) => (/^[0-9a-z]{1,11}$/.test(word) ? word : ''));
  if (offsets.includes('') || offsets.length > partitions) return undefined;
  return Array.from({ length: partitions }, (_, index) => parseInt(offsets[index] ?? '0', 36));
}

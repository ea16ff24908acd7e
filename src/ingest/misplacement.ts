import { partitionOf, type KafkaRecord } from '#kafka-batch';

/**
 * What is wrong with the place of a record: its key is not its player's id, or its partition is not
 * that of the key.
 */
export type Misplacement = 'key' | 'partition';

/** Compares a record with Kafka's default partitioner. Cost: about 0.2 us, for every event. */
export function misplacementOf(
  { key }: Pick<KafkaRecord, 'key'>,
  playerId: string,
  { partition, partitions }: { readonly partition: number; readonly partitions: number },
): Misplacement | undefined {
  if (key === null || key.toString() !== playerId) return 'key';
  return partitionOf(key, partitions) === partition ? undefined : 'partition';
}

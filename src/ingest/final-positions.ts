import type { BoardStore } from '#board-store';
import type { ResultLog } from './result-log.js';

/** Partitions that are fenced at the same time. */
const AT_ONCE = 8;

/**
 * The published position of every partition, after its publisher was fenced: nobody can move it who began before.
 * Owners that are alive start their partitions anew. Cost: some ten requests a partition, AT_ONCE side by side.
 */
export async function finalPositions(
  resultLog: Pick<ResultLog, 'openPublisher' | 'publishedPosition'>,
  store: Pick<BoardStore, 'publishedPosition'>,
  partitions: readonly number[],
): Promise<Map<number, number>> {
  const positions = new Map<number, number>();
  const waiting = [...partitions];
  const finalPosition = async (partition: number): Promise<number> => {
    const publisher = await resultLog.openPublisher(partition);
    try {
      const told = await resultLog.publishedPosition(partition);
      return Math.max(told, await store.publishedPosition(partition));
    } finally {
      await publisher.close();
    }
  };
  const fenceNext = async (): Promise<void> => {
    for (let partition = waiting.shift(); partition !== undefined; partition = waiting.shift())
      positions.set(partition, await finalPosition(partition));
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, fenceNext));
  } finally {
    waiting.length = 0; // after a failure, nobody else is fenced
  }
  return positions;
}

import { UnknownBoardError } from '#board-store';
import { HOLDER } from './lease-keeper.js';
import type { ReconcilerParts } from './reconciler-parts.js';

/** What a removed board that never was live has in place of its last generation. */
const NEVER_LIVE = '-';

/** Removes a board, and writes down that it is in force no more. @throws LeaseHeldError, UnknownBoardError */
export async function removeBoard(
  { store, leases, generations, definitions }: ReconcilerParts,
  board: string,
): Promise<void> {
  const lease = await leases.acquire(board, HOLDER);
  try {
    const { live } = await store.boards();
    const generation = live.get(board)?.generation ?? NEVER_LIVE;
    const since = await generations.remove(lease);
    if (since === 0) throw new UnknownBoardError(board, [...live.keys()].sort());
    await definitions.write([{ board, generation, since, definition: null }]);
    await leases.forget(board);
  } finally {
    await leases.release(lease);
  }
}

import { HOLDER, UnknownBoardError } from '#board-store';
import type { DefinitionInForce } from '#contracts';
import type { ReconcilerParts } from './reconciler-parts.js';
import { writeDown } from './write-down.js';

/** What a removed board that never was live has in place of its last generation. */
const NEVER_LIVE = '-';

/** Removes a board, and writes down that it is in force no more. @throws LeaseHeldError, UnknownBoardError */
export async function removeBoard(
  parts: ReconcilerParts,
  board: string,
  signal: AbortSignal,
): Promise<void> {
  await writeDown(parts, await remove(parts, board), signal);
}

async function remove(
  { store, leases, generations }: ReconcilerParts,
  board: string,
): Promise<DefinitionInForce> {
  const lease = await leases.acquire(board, HOLDER);
  try {
    const { live } = await store.boards();
    const generation = live.get(board)?.generation ?? NEVER_LIVE;
    const since = await generations.remove(lease);
    if (since === 0) throw new UnknownBoardError(board, [...live.keys()].sort());
    await leases.forget(board);
    return { board, generation, since, definition: null };
  } finally {
    await leases.release(lease);
  }
}

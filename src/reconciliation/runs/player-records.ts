import type { BanEntry, Lease, PlayerEntry, Shadow } from '#board-store';
import { splitViews } from '../../ingest/split-calls.js';
import type { ShadowAtWork } from './log-pass.js';
import type { ReconcilerParts } from './reconciler-parts.js';

type Parts = Pick<ReconcilerParts, 'store' | 'generations'>;

/**
 * Joins records of the live register to a shadow that does not read them: those from before its
 * starts, and erasures, as a snapshot of an earlier time must not show erased players either. A
 * record that live ingest has marked but not settled is left out: the shadow reads it later. Of a
 * build, call it when the shadow is at the live applied offsets: then none can be missing.
 */
export async function takeOverRecords(
  { store, generations }: Parts,
  lease: Lease,
  shadow: Shadow,
): Promise<void> {
  const { live } = await store.boards();
  const from = live.get(shadow.board);
  if (from === undefined) return;
  for await (const page of generations.bans(from)) {
    const unsettled = await generations.unsettled(from);
    const isUnsettled = ({ partition, offset }: BanEntry) =>
      unsettled.some((one) => one.partition === partition && one.offset === offset);
    const byPartition = new Map<number, PlayerEntry[]>();
    for (const { entry, text } of page) {
      if (!isTakenOver(shadow, entry) || isUnsettled(entry)) continue;
      const { partition, offset, playerId } = entry;
      const records = byPartition.get(partition) ?? [];
      records.push({ kind: 'player', offset, board: shadow.board, playerId, entry: text });
      byPartition.set(partition, records);
    }
    for (const [partition, records] of byPartition)
      await generations.joinRecords(lease, shadow, partition, records);
  }
}

/** A voided record is not taken over: that undoes it. */
function isTakenOver(
  { definition, starts }: Shadow,
  { kind, partition, offset }: BanEntry,
): boolean {
  const isVoid = definition.voids?.some(
    (place) => place.partition === partition && place.offset === offset,
  );
  return isVoid !== true && (kind === 'erased' || offset < (starts?.get(partition) ?? 0));
}

/**
 * Settles the player records that a shadow has marked, as one with rankings does: see
 * lua/includes/settle.lua.
 */
export async function settleRecords(
  { store, generations }: Parts,
  { lease, shadow, catchUp }: ShadowAtWork,
): Promise<void> {
  const { board, definition } = shadow;
  const retry = <T>(call: () => Promise<T>) => catchUp.withRetries(call);
  for (const { partition, ...record } of await retry(() => generations.unsettled(shadow))) {
    const views = await retry(() => store.viewsOfPlayer(shadow, record.playerId));
    const pages = splitViews(views, definition);
    if (pages.length === 0) pages.push([]);
    for (const [index, page] of pages.entries()) {
      await catchUp.throttle(page.length);
      const step = { views: page, isLast: index === pages.length - 1 };
      const entry = { kind: 'player' as const, board, ...record, step };
      await retry(() => generations.joinRecords(lease, shadow, partition, [entry]));
    }
  }
}

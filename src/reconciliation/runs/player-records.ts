import type { BanEntry, Lease, LiveBoard, PlayerEntry, Shadow } from '#board-store';
import { settlingCalls } from '../../ingest/split-calls.js';
import type { ShadowAtWork } from './log-pass.js';
import type { ReconcilerParts } from './reconciler-parts.js';

type Parts = Pick<ReconcilerParts, 'store' | 'generations'>;

/**
 * Joins records of the live register to a shadow that does not read them: those from before its
 * starts, and erasures, as a snapshot of an earlier time must not show erased players either. A
 * record that live ingest has marked but not settled is left out: the shadow reads it later.
 *
 * Returns the live applied offsets of partitions in which the shadow begins later. If one of them
 * has moved since, a record may be missing: then a promotion is refused, and this has to be repeated.
 */
export async function takeOverRecords(
  { store, generations }: Parts,
  lease: Lease,
  shadow: Shadow,
): Promise<Record<string, number>> {
  const { board, starts = new Map<number, number>() } = shadow;
  const applied = await generations.liveAppliedOffsets(board);
  const { live } = await store.boards();
  const from = live.get(board);
  if (from !== undefined) await takeOver(generations, lease, shadow, from);
  const below = [...applied].filter(
    ([partition, offset]) => offset + 1 < (starts.get(partition) ?? 0),
  );
  return Object.fromEntries(below);
}

async function takeOver(
  generations: Parts['generations'],
  lease: Lease,
  shadow: Shadow,
  from: LiveBoard,
): Promise<void> {
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
    for (const [partition, entries] of byPartition)
      await generations.joinRecords(lease, shadow, { partition, entries });
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
    const records = [{ kind: 'player' as const, board, ...record }];
    const views = await retry(() => store.viewsOfPlayers(shadow, [record.playerId]));
    const calls = settlingCalls(records, views, definition);
    for (const [index, entries] of calls.entries()) {
      await catchUp.throttle(1);
      const isLast = index === calls.length - 1;
      const joined = { partition, entries, isLast };
      await retry(() => generations.joinRecords(lease, shadow, joined));
    }
  }
}

/** Takes over and settles player records, of a shadow that is ranked from the start and is to be kept. */
export async function completeRecords(parts: Parts, at: ShadowAtWork): Promise<void> {
  await takeOverRecords(parts, at.lease, at.shadow);
  await settleRecords(parts, at);
}

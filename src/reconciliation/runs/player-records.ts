import type {
  BanEntry,
  Lease,
  LiveBoard,
  PlayerEntry,
  Shadow,
  UnsettledRecord,
} from '#board-store';
import { MAX_RECORDS, settlingCalls } from '../../ingest/split-calls.js';
import type { ShadowAtWork } from './log-pass.js';
import type { ReconcilerParts } from './reconciler-parts.js';

type Parts = Pick<ReconcilerParts, 'store' | 'generations'>;

/**
 * Joins records of the live register to a shadow that does not read them: those from before its
 * starts, and erasures, as a snapshot of an earlier time must not show erased players either. A
 * record that live ingest has marked but not settled is left out: the shadow reads it later.
 *
 * Returns the live applied offsets of partitions in which the shadow begins later. If one of them
 * has moved since, a record may be missing: then a promotion is refused, and this has to be
 * repeated.
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
  const offsets = [...starts].map(([partition, start]) => {
    return { partition, start, offset: applied.get(partition) ?? -1 };
  });
  const below = offsets.filter(({ start, offset }) => offset + 1 < start);
  return Object.fromEntries(below.map(({ partition, offset }) => [partition, offset]));
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
  const unsettled = await retry(() => generations.unsettled(shadow));
  for (const { partition, records } of groupsOf(unsettled)) {
    const ids = records.map(({ playerId }) => playerId);
    const views = await retry(() => store.viewsOfPlayers(shadow, ids));
    const entries = records.map((record) => ({ kind: 'player' as const, board, ...record }));
    for (const call of settlingCalls(entries, views, definition)) {
      await catchUp.throttle(call.entries.length);
      await retry(() => generations.joinRecords(lease, shadow, { partition, ...call }));
    }
  }
}

/** Records of one partition, at most MAX_RECORDS, and at most one of each player. */
function groupsOf(unsettled: readonly UnsettledRecord[]) {
  const groups: { partition: number; records: Omit<UnsettledRecord, 'partition'>[] }[] = [];
  for (const { partition, ...record } of unsettled) {
    const fits = groups.find(
      (group) =>
        group.partition === partition &&
        group.records.length < MAX_RECORDS &&
        group.records.every(({ playerId }) => playerId !== record.playerId),
    );
    if (fits === undefined) groups.push({ partition, records: [record] });
    else fits.records.push(record);
  }
  return groups;
}

/**
 * Takes over and settles player records, of a shadow that is ranked from the start and is to be
 * kept.
 */
export async function completeRecords(parts: Parts, at: ShadowAtWork): Promise<void> {
  await at.catchUp.withRetries(() => takeOverRecords(parts, at.lease, at.shadow));
  await settleRecords(parts, at);
}

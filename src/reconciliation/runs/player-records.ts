import type {
  BanEntry,
  Lease,
  LiveBoard,
  PlayerEntry,
  Shadow,
  UnsettledRecord,
} from '#board-store';
import { MAX_RECORDS, settlingCalls } from '../../ingest/split-calls.js';
import type { ShadowWork } from './log-pass.js';
import type { ReconcilerParts } from './reconciler-parts.js';

type Parts = Pick<ReconcilerParts, 'store' | 'generations'>;

/**
 * Joins player records of the live register to a shadow that does not read them: records from
 * before its starts, and all erasures, as a snapshot of an earlier time must not show erased
 * players either. Leaves out records that live ingest has marked but not settled: the shadow reads
 * them later.
 *
 * Returns the live applied offsets of partitions in which the shadow begins later. If one of them
 * has moved since, a record may be missing: then Redis refuses a promotion, and the caller has to
 * repeat this.
 */
export async function takeOverRecords(
  { store, generations }: Parts,
  lease: Lease,
  shadow: Shadow,
): Promise<Record<string, number>> {
  const { board, starts = new Map<number, number>() } = shadow;
  const applied = await generations.liveAppliedOffsets(board);
  const { live } = await store.boards();
  const liveBoard = live.get(board);
  if (liveBoard !== undefined) await joinRegister(generations, lease, shadow, liveBoard);

  const below: Record<string, number> = {};
  for (const [partition, start] of starts) {
    const offset = applied.get(partition) ?? -1;
    if (offset + 1 < start) below[partition] = offset;
  }
  return below;
}

/** Calls `takeOverRecords`, with retries. */
export function takeOverWithRetries(
  parts: Parts,
  { lease, shadow, catchUp }: ShadowWork,
): Promise<Record<string, number>> {
  return catchUp.retry(() => takeOverRecords(parts, lease, shadow));
}

async function joinRegister(
  generations: Parts['generations'],
  lease: Lease,
  shadow: Shadow,
  live: LiveBoard,
): Promise<void> {
  for await (const page of generations.bans(live)) {
    const unsettled = await generations.unsettled(live);
    const isUnsettled = ({ partition, offset }: BanEntry) =>
      unsettled.some((record) => record.partition === partition && record.offset === offset);

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

/** Whether a shadow takes over a record. Voided records are not taken over. */
function isTakenOver(
  { definition, starts }: Shadow,
  { kind, partition, offset }: BanEntry,
): boolean {
  const isVoided = definition.voids?.some(
    (place) => place.partition === partition && place.offset === offset,
  );
  if (isVoided === true) return false;

  const start = starts?.get(partition) ?? 0;
  return kind === 'erased' || offset < start;
}

/**
 * Settles the player records that a shadow with rankings has marked: see lua/includes/settle.lua.
 */
export async function settleRecords(
  { store, generations }: Parts,
  { lease, shadow, catchUp }: ShadowWork,
): Promise<void> {
  const { board, definition } = shadow;
  const retry = <T>(call: () => Promise<T>) => catchUp.retry(call);
  const unsettled = await retry(() => generations.unsettled(shadow));
  for (const { partition, records } of groupsOf(unsettled)) {
    const ids = records.map(({ playerId }) => playerId);
    const views = await retry(() => store.viewsOfPlayers(shadow, ids));
    const entries = records.map((record) => ({ kind: 'player' as const, board, ...record }));
    for (const call of settlingCalls(entries, views, definition)) {
      await catchUp.waitForThrottle(call.entries.length);
      await retry(() => generations.joinRecords(lease, shadow, { partition, ...call }));
    }
  }
}

interface RecordGroup {
  readonly partition: number;
  readonly records: Omit<UnsettledRecord, 'partition'>[];
}

/** Groups records by partition: at most MAX_RECORDS in a group, and at most one of each player. */
function groupsOf(unsettled: readonly UnsettledRecord[]): RecordGroup[] {
  const groups: RecordGroup[] = [];
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

/** Takes over and settles the player records of a snapshot, which is ranked from the start. */
export async function completeRecords(parts: Parts, work: ShadowWork): Promise<void> {
  await takeOverWithRetries(parts, work);
  await settleRecords(parts, work);
}

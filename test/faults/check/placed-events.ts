import type { RankChange } from '#contracts';
import { hashOf, versionOf } from './facts.js';
import type { BoardRecord, Judgement, Outcome } from './judgement.js';
import type { Reigns } from './reigns.js';

/** An event of a board, where it was applied, and what it was taken for there. */
export interface PlacedEvent extends BoardRecord {
  /** The version at which it was applied; of one that nothing was told of, that of what came before it in its partition. */
  readonly version: number;
  /** By the definition that it was applied by. */
  readonly outcome: Outcome;
  readonly hash: string;
  readonly told?: RankChange;
}

/** What is known of the events of one board. */
export interface Judged {
  readonly reigns: Reigns;
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** By the record that they stem from. */
  readonly told: ReadonlyMap<string, RankChange>;
  /** The reasons that dead letters give, by their records. */
  readonly refused: ReadonlyMap<string, string>;
}

const NOTHING: Outcome = { moved: [] };

/**
 * The events of a board in the order in which they were applied. A rank change tells by its version when that was, and by
 * its generation by which definition. An event without one was applied between the two of its partition that are told of,
 * by a definition that it is nothing to, or a dead letter for that reason where there is one; not before it was written, and
 * else as early as that can be: its effect by a definition that came later is then part of every rank that was told by that.
 */
export function placedRecords(records: readonly BoardRecord[], judged: Judged): PlacedEvent[] {
  const partitions = new Map<number, BoardRecord[]>();
  for (const record of records) {
    const some = partitions.get(record.partition) ?? [];
    some.push(record);
    partitions.set(record.partition, some);
  }
  const placed = [...partitions.values()].flatMap((some) => placedInPartition(some, judged));
  return placed.sort((a, b) => a.version - b.version || a.offset - b.offset);
}

function placedInPartition(records: readonly BoardRecord[], judged: Judged): PlacedEvent[] {
  const lastReigns = latestReigns(records, judged);
  let at = { reign: 0, version: 0 };
  return records.map((record, index) => {
    const placed = placedAt(record, { ...at, lastReign: lastReigns[index] ?? 0 }, judged);
    const { version } = placed;
    at = { version, reign: judged.reigns.at(version) };
    return placed;
  });
}

/** For each record, the reign of the next one that is told of, itself included. */
function latestReigns(records: readonly BoardRecord[], { reigns, told }: Judged): number[] {
  let last = reigns.count - 1;
  return records
    .toReversed()
    .map(({ id }) => {
      const change = told.get(id);
      if (change !== undefined) last = reigns.at(versionOf(change));
      return last;
    })
    .reverse();
}

function placedAt(
  record: BoardRecord,
  at: { readonly reign: number; readonly version: number; readonly lastReign: number },
  { reigns, judgements, told, refused }: Judged,
): PlacedEvent {
  const outcomeBy = (hash: string) => judgements.get(hash)?.outcomes.get(record.id) ?? NOTHING;
  const change = told.get(record.id);
  if (change !== undefined) {
    const hash = hashOf(change.generation);
    return { ...record, told: change, version: versionOf(change), hash, outcome: outcomeBy(hash) };
  }
  const reason = refused.get(record.id);
  const written = record.timestamp * 1_000;
  const earliest = Math.min(reigns.at(written), at.lastReign);
  for (let reign = Math.max(at.reign, earliest); reign <= at.lastReign; reign++) {
    const hash = reigns.hash(reign);
    const outcome = outcomeBy(hash);
    const { moved, reasons } = outcome;
    const fits = moved.length === 0 && (reason === undefined ? !reasons : reasons?.has(reason));
    const version = Math.max(at.version, written, reign === 0 ? 0 : reigns.since(reign));
    if (fits) return { ...record, version, hash, outcome };
  }
  const hash = reigns.hash(at.reign);
  return { ...record, version: at.version, hash, outcome: outcomeBy(hash) };
}

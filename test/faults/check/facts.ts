import type { BoardDefinition } from '#board';
import type { BanEntry } from '#board-store';
import type { LeaderChange, PeriodResult, RankChange } from '#contracts';
import type { OracleBytes } from '../../model/oracle.js';
import type { ReadRecord } from '../../support/results.js';

/** The contents of the logs and stores after a test run, read once everything was published. */
export interface RunFacts {
  /** Whether the results of closed windows are announced: the broker stamps the records. */
  readonly announces: boolean;
  /** The live definitions at the end. */
  readonly definitions: readonly BoardDefinition[];
  /** Every definition that a board can have had. */
  readonly known: readonly BoardDefinition[];
  /** Generations that went live. */
  readonly promotions: readonly PromotionFact[];
  /** The contents of the records that the load sent. */
  readonly sent: ReadonlySet<string>;
  /** The score topic. */
  readonly log: readonly ReadRecord[];
  /** Committed results: those of each partition in the order of its log. */
  readonly rankChanges: readonly RankChange[];
  readonly leaderChanges: readonly LeaderChange[];
  readonly deadLetters: readonly DeadLetterFact[];
  readonly announcements: readonly AnnouncementFact[];
  /** Ids of committed results, as Kafka's own console consumer reads them. */
  readonly consoleIds: ConsoleIds;
  /** The bytes of each view in Redis, by `board view`. */
  readonly stored: ReadonlyMap<string, OracleBytes>;
  /** The entries of the ban registers, by `board player`. */
  readonly bans: ReadonlyMap<string, BanEntry>;
}

/** A promotion, as the definitions topic records it; `since` is in µs since 1970, like versions. */
export interface PromotionFact {
  readonly board: string;
  readonly generation: string;
  readonly since: number;
}

/** `id` is `topic/partition/offset` of the bad record. */
export interface DeadLetterFact {
  readonly id: string;
  readonly code: string;
}

/** The result of a closed view, with the `ce_id` and the timestamp of its record. */
export interface AnnouncementFact {
  readonly id: string;
  readonly timestamp: number;
  readonly result: PeriodResult;
}

export interface ConsoleIds {
  readonly rankChanges: readonly string[];
  readonly leaderChanges: readonly string[];
  readonly deadLetters: readonly string[];
  readonly announcements: readonly string[];
}

/** `topic/partition/offset` of a record. */
export function recordId(topic: string, { partition, offset }: ReadRecord): string {
  return `${topic}/${partition}/${offset}`;
}

/**
 * The id of a leader change: the `topic/partition/offset` of the event that caused it, and the
 * view.
 */
export function leaderChangeId({ source, view }: LeaderChange): string {
  return `${source.topic}/${source.partition}/${source.offset} ${view}`;
}

/** Returns the hash of the definition, with which a generation id ends. */
export function hashOf(generation: string): string {
  return generation.slice(generation.indexOf('-') + 1);
}

/**
 * The version at which the event of a rank change was applied. An apply call gives all views that
 * it changes the same version.
 */
export function versionOf({ changes }: Pick<RankChange, 'changes'>): number {
  return changes[0]?.version ?? 0;
}

const MAX_SHOWN = 5;

/** Describes the problems of one kind in lines: their number, and the first ones. */
export function summary(what: string, problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const rest = problems.length - MAX_SHOWN;
  const shown = problems.slice(0, MAX_SHOWN).map((problem) => `  ${problem}`);
  return [`${what}: ${problems.length}`, ...shown, ...(rest > 0 ? [`  ... and ${rest} more`] : [])];
}

export function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

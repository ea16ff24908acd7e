import type { BoardDefinition } from '#board';
import type { LeaderChange, RankChange } from '#contracts';
import type { OracleBytes } from '../../model/oracle.js';
import type { ReadRecord } from '../../support/results.js';

/** All that a run has left behind, read when everything was published. */
export interface RunFacts {
  /** What is live at the end. */
  readonly definitions: readonly BoardDefinition[];
  /** Every definition that ranklog was ever given. */
  readonly known: readonly BoardDefinition[];
  /** Generations that went live. */
  readonly promotions: readonly PromotionFact[];
  /** The score topic. */
  readonly log: readonly ReadRecord[];
  /** Committed results, each partition's in the order of its log. */
  readonly rankChanges: readonly RankChange[];
  readonly leaderChanges: readonly LeaderChange[];
  readonly deadLetters: readonly DeadLetterFact[];
  /** Ids of committed results as Kafka's own console consumer prints them. */
  readonly consoleIds: ConsoleIds;
  /** What Redis holds of each view, by `board view`. */
  readonly stored: ReadonlyMap<string, OracleBytes>;
}

/** That a generation went live, as the definitions topic has it; `since` in us, as versions are. */
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

export interface ConsoleIds {
  readonly rankChanges: readonly string[];
  readonly leaderChanges: readonly string[];
  readonly deadLetters: readonly string[];
}

/** The id of a leader change: that of its cause, and the view. */
export function leaderChangeId({ source, view }: LeaderChange): string {
  return `${source.topic}/${source.partition}/${source.offset} ${view}`;
}

/** The hash of its definition ends a generation id. */
export function hashOf(generation: string): string {
  return generation.slice(generation.indexOf('-') + 1);
}

/** The version at which an event was applied. A call gives all views that it changes the same. */
export function versionOf({ changes }: Pick<RankChange, 'changes'>): number {
  return changes[0]?.version ?? 0;
}

const MOST_SHOWN = 5;

/** Problems of one kind in a few lines: their number, and the first ones. */
export function summary(what: string, problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const rest = problems.length - MOST_SHOWN;
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => `  ${problem}`);
  return [`${what}: ${problems.length}`, ...shown, ...(rest > 0 ? [`  ... and ${rest} more`] : [])];
}

/** What the checks have to know of a run: when Redis lost something, in us since 1970, as versions are. */
export interface Resync {
  readonly resync: readonly number[];
}

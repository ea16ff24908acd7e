import type { RankChange } from '#contracts';
import type { OracleRecord } from '../../model/oracle-memory.js';
import type { Oracle, OracleBytes } from '../../model/oracle.js';
import { brokenChains, causeOf } from '../../support/results.js';
import { generationProblems } from './epochs.js';
import { expectedOf, type Expected } from './expected.js';
import { leaderChangeId, summary, versionOf, type RunFacts } from './facts.js';
import { leaderProblems } from './leaders.js';
import { logProblems } from './log.js';
import { periodProblems } from './periods.js';
import { replayProblems } from './replay.js';
import { retriesIn, retryProblems } from './retries.js';

/** The problems of a test run (none if it was exact), and its size. */
export interface Verdict {
  readonly problems: readonly string[];
  /** Records of the score topic. */
  readonly records: number;
  /** Records that must have a rank change. */
  readonly results: number;
  /** How many of them are caused by bans, unbans and erasures. */
  readonly playerChanges: number;
  readonly deadLetters: number;
  readonly retries: number;
  /** Results of closed views. */
  readonly announcements: number;
}

/**
 * Makes all checks of a test run. `losses`: when Redis lost acknowledged writes, in µs since 1970,
 * like versions.
 */
export function check(topic: string, facts: RunFacts, losses: readonly number[]): Verdict {
  const expected = expectedOf(topic, facts);
  return {
    problems: [
      ...boardProblems(facts, expected.oracle),
      ...registerProblems(facts, expected.oracle),
      ...generationProblems(facts, losses),
      ...exactlyOnceProblems(facts, expected),
      ...chainProblems(facts, expected),
      ...leaderProblems(facts, expected, losses.length > 0),
      ...periodProblems(facts, expected),
      ...replayProblems(expected, losses),
      ...retryProblems(topic, facts, expected),
      ...logProblems(facts),
    ],
    records: facts.log.length,
    results: expected.applied.size,
    playerChanges: playerChanges(expected),
    deadLetters: expected.deadLetters.size,
    retries: retriesIn(topic, facts.log).length,
    announcements: facts.announcements.length,
  };
}

function playerChanges({ boards }: Expected): number {
  const all = boards.flatMap(({ records }) => records);
  return all.filter((record) => 'player' in record && record.outcome.moved.length > 0).length;
}

/** Views whose bytes in Redis differ from the oracle's. */
function boardProblems({ definitions, stored }: RunFacts, oracle: Oracle): string[] {
  const wanted = new Map<string, OracleBytes>(
    definitions.flatMap(({ board }) =>
      oracle.views(board).map((view) => [`${board} ${view}`, oracle.bytes(board, view)] as const),
    ),
  );
  const names = [...new Set([...wanted.keys(), ...stored.keys()])].sort();
  const broken = names.flatMap((name) => {
    const [a, b] = [linesOf(wanted.get(name)), linesOf(stored.get(name))];
    const place = Array.from({ length: Math.max(a.length, b.length) }, (_, it) => it).find(
      (it) => a[it] !== b[it],
    );
    return place === undefined
      ? []
      : [`${name}, line ${place}: ${b[place] ?? 'none'} in place of ${a[place] ?? 'none'}`];
  });
  return summary('views that are not those of the oracle', broken);
}

/** Entries of the ban registers that differ from the oracle's. */
function registerProblems({ definitions, bans }: RunFacts, oracle: Oracle): string[] {
  const wanted = new Map<string, OracleRecord>(
    definitions.flatMap(({ board }) =>
      [...oracle.memory(board).register].map(([id, entry]) => [`${board} ${id}`, entry] as const),
    ),
  );
  const textOf = (entry: OracleRecord | undefined) =>
    entry && [entry.kind, entry.time, entry.partition, entry.offset].join(' ');
  const names = [...new Set([...wanted.keys(), ...bans.keys()])].sort();
  const wrong = names.flatMap((name) => {
    const [a, b] = [textOf(wanted.get(name)), textOf(bans.get(name))];
    return a === b ? [] : [`${name}: ${b ?? 'none'} in place of ${a ?? 'none'}`];
  });
  return summary('entries of ban registers that are not those of the oracle', wrong);
}

function linesOf({ ranking, players }: OracleBytes = { ranking: [], players: {} }): string[] {
  const states = Object.entries(players).sort(([a], [b]) => (a < b ? -1 : 1));
  return [...ranking, 'players', ...states].map((value) => JSON.stringify(value));
}

/**
 * Missing, repeated and unexpected results, as a kafkajs consumer and Kafka's console consumer read
 * them.
 */
function exactlyOnceProblems(facts: RunFacts, expected: Expected): string[] {
  const { rankChanges, leaderChanges, deadLetters, announcements, consoleIds } = facts;
  const leaderIds = leaderChanges.map(leaderChangeId);
  const announcementIds = announcements.map(({ id }) => id);
  const letterIds = deadLetters.map(({ id }) => id);
  const applied = [...expected.applied];
  const bad = [...expected.deadLetters.keys()];
  const wrongReasons = deadLetters.flatMap(({ id, code }) => {
    const reasons = expected.deadLetters.get(id);
    const isRight = reasons === undefined || reasons.has(code);
    return isRight ? [] : [`${id}: ${code} in place of ${[...reasons].join(' or ')}`];
  });
  return [
    ...differences('rank changes', applied, rankChanges.map(causeOf)),
    ...differences('rank changes in the console consumer', applied, consoleIds.rankChanges),
    ...differences('dead letters', bad, letterIds),
    ...differences('dead letters in the console consumer', bad, consoleIds.deadLetters),
    ...differences('leader changes', [...new Set(leaderIds)], leaderIds),
    ...differences('leader changes in the console consumer', leaderIds, consoleIds.leaderChanges),
    ...differences('announcements', [...new Set(announcementIds)], announcementIds),
    ...differences(
      'announcements in the console consumer',
      announcementIds,
      consoleIds.announcements,
    ),
    ...summary('dead letters with a wrong reason', wrongReasons),
  ];
}

function differences(what: string, wanted: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const id of found) counts.set(id, (counts.get(id) ?? 0) + 1);
  const known = new Set(wanted);
  const missing = wanted.filter((id) => !counts.has(id));
  const repeated = [...counts].filter(([, count]) => count > 1);
  const unexpected = [...counts.keys()].filter((id) => !known.has(id));
  return [
    ...summary(`${what} that are missing`, missing),
    ...summary(
      `${what} that were published more than once`,
      repeated.map(([id, count]) => `${id}: ${count} times`),
    ),
    ...summary(`${what} that are not expected`, unexpected),
  ];
}

/**
 * Finds broken chains within each epoch, the time during which one definition of a board was live:
 * only the replay knows the columns that a player has under the next definition.
 */
function chainProblems({ rankChanges }: RunFacts, { boards }: Expected): string[] {
  const epochs = new Map(boards.map((history) => [history.board, history.epochs]));
  const epochOf = (change: RankChange) => epochs.get(change.board)?.at(versionOf(change)) ?? 0;
  return summary('chains of rank changes that are broken', brokenChains(rankChanges, epochOf));
}

import { causeOf } from '../../support/results.js';
import type { Expected } from './expected.js';
import { leaderChangeId, summary, type RunFacts } from './facts.js';

/** Results that are missing, there twice, or of nothing that was applied; by kafkajs and by Kafka's own consumer. */
export function exactlyOnceProblems(facts: RunFacts, expected: Expected): string[] {
  const { rankChanges, leaderChanges, deadLetters, consoleIds } = facts;
  const leaderIds = leaderChanges.map(leaderChangeId);
  const applied = [...expected.applied];
  const bad = [...expected.deadLetters.keys()];
  return [
    ...differences('rank changes', applied, rankChanges.map(causeOf)),
    ...differences('rank changes by the console consumer', applied, consoleIds.rankChanges),
    ...differences(
      'dead letters',
      bad,
      deadLetters.map(({ id }) => id),
    ),
    ...differences('dead letters by the console consumer', bad, consoleIds.deadLetters),
    ...differences('leader changes', [...new Set(leaderIds)], leaderIds),
    ...differences('leader changes by the console consumer', leaderIds, consoleIds.leaderChanges),
    ...wrongReasons(facts, expected),
  ];
}

function differences(what: string, wanted: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const id of found) counts.set(id, (counts.get(id) ?? 0) + 1);
  const known = new Set(wanted);
  const missing = wanted.filter((id) => !counts.has(id));
  const doubled = [...counts].filter(([, count]) => count > 1);
  const foreign = [...counts.keys()].filter((id) => !known.has(id));
  return [
    ...summary(`${what} that are missing`, missing),
    ...summary(
      `${what} that are there more than once`,
      doubled.map(([id, count]) => `${id}: ${count} times`),
    ),
    ...summary(`${what} of nothing that was applied`, foreign),
  ];
}

function wrongReasons({ deadLetters }: RunFacts, expected: Expected): string[] {
  return summary(
    'dead letters with a wrong reason',
    deadLetters.flatMap(({ id, code }) => {
      const reasons = expected.deadLetters.get(id);
      return reasons === undefined || reasons.has(code)
        ? []
        : [`${id}: ${code} in place of ${[...reasons].join(' or ')}`];
    }),
  );
}

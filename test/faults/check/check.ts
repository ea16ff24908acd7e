import { boardProblems } from './boards.js';
import { chainProblems } from './chains.js';
import { exactlyOnceProblems } from './exactly-once.js';
import { expectedOf, type Expected } from './expected.js';
import type { Resync, RunFacts } from './facts.js';
import { leaderProblems } from './leaders.js';
import { generationProblems } from './reigns.js';
import { replayProblems } from './replay.js';

/** How a run ended: what is wrong with it (nothing, where all is well), and over how much that was found. */
export interface Verdict {
  readonly problems: readonly string[];
  /** Of the score topic. */
  readonly records: number;
  /** Events that changed something. */
  readonly results: number;
  readonly deadLetters: number;
}

/** All checks of a run. */
export function check(topic: string, facts: RunFacts, options: Resync): Verdict {
  const expected = expectedOf(topic, facts);
  return {
    problems: problemsOf(facts, expected, options),
    records: facts.log.length,
    results: expected.applied.size,
    deadLetters: expected.deadLetters.size,
  };
}

function problemsOf(facts: RunFacts, expected: Expected, options: Resync): string[] {
  return [
    ...boardProblems(facts, expected.oracle),
    ...generationProblems(facts, options),
    ...exactlyOnceProblems(facts, expected),
    ...chainProblems(facts, expected),
    ...leaderProblems(facts, expected, { resync: options.resync.length > 0 }),
    ...replayProblems(expected, options.resync),
  ];
}

import type { AppliedRun } from '../../src/ingest/applier.js';

/** Applies all runs of a batch. */
export async function runsOf(runs: AsyncIterable<AppliedRun>): Promise<AppliedRun[]> {
  const applied: AppliedRun[] = [];
  for await (const run of runs) applied.push(run);
  return applied;
}

import type { RunReport } from './run.js';

/** Totals of several test runs: how many, their records, and how often each thing was done. */
export type Totals = Readonly<Record<string, number>>;

export function totalsOf(reports: readonly RunReport[]): Totals {
  const totals: Record<string, number> = { runs: reports.length };
  const add = (what: string, count: number) => (totals[what] = (totals[what] ?? 0) + count);
  for (const { seconds, tally, verdict } of reports) {
    add('runs that are not exact', verdict.problems.length > 0 ? 1 : 0);
    add('seconds', Math.round(seconds));
    add('records', verdict.records);
    add('records with a result', verdict.results);
    add('bans, unbans and erasures with a result', verdict.playerChanges);
    add('dead letters', verdict.deadLetters);
    add('retries in the log', verdict.retries);
    add('announcements', verdict.announcements);
    for (const [what, count] of [...tally].sort()) add(what, count);
  }
  return totals;
}

/**
 * The verdict on a test run in a line, and the problems if there are any, each in lines of its own.
 */
export function verdictText({ plan: { seed }, seconds, verdict }: RunReport): string {
  const { problems, records, results, playerChanges, deadLetters, retries, announcements } =
    verdict;
  const size = `${records} records, ${results} results (${playerChanges} of bans, unbans and erasures), ${deadLetters} dead letters, ${retries} retries, ${announcements} announcements, ${seconds.toFixed(1)} s`;
  if (problems.length === 0) return `seed ${seed}: exact; ${size}`;
  return [`seed ${seed}: NOT EXACT; ${size}`, ...problems].join('\n');
}

/** One line for each total. */
export function totalsTable(totals: Totals): string {
  const width = Math.max(...Object.keys(totals).map((what) => what.length));
  return Object.entries(totals)
    .map(([what, count]) => `${what.padEnd(width)} ${String(count).padStart(8)}`)
    .join('\n');
}

/** The report of all test runs as JSON. */
export function reportJson(reports: readonly RunReport[]): string {
  const runs = reports.map(({ plan, seconds, tally, verdict }) => ({
    plan,
    seconds: Number(seconds.toFixed(1)),
    ...verdict,
    done: Object.fromEntries(tally),
  }));
  return JSON.stringify({ totals: totalsOf(reports), runs }, null, 2);
}

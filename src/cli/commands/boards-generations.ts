import type { GenerationOverview } from '#board-store';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { startsText, timeText } from '../value-text.js';
import { withReconciliation } from '../reconciliation-session.js';

export function boardsGenerations(options: { json?: boolean }): Promise<number> {
  return withReconciliation(async ({ catalog }) => {
    const generations = await catalog.generations();
    print(generations.map(toJson), options, () => toTable(generations));
    return EXIT.ok;
  });
}

function toJson({ board, generation, role, starts, since, keptUntil, asOf }: GenerationOverview) {
  return {
    board,
    generation,
    role,
    since: timeText(since),
    keptUntil: timeText(keptUntil),
    asOf: timeText(asOf),
    startsAt: starts === undefined ? null : Object.fromEntries(starts),
  };
}

function toTable(generations: readonly GenerationOverview[]): string {
  const rows = generations.map((overview) => {
    const { board, generation, role, since, keptUntil, asOf, startsAt } = toJson(overview);
    const times = [since, keptUntil, asOf].map((time) => time ?? '-');
    return [board, role, generation, ...times, startsAt === null ? 'all' : startsText(startsAt)];
  });
  return table(['board', 'role', 'generation', 'since', 'kept until', 'as of', 'history'], rows);
}

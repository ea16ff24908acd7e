import { generationJson } from '../../status/status.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { startsText } from '../value-text.js';
import { withReconciliation } from '../reconciliation-session.js';
import type { JsonOption } from '../usage/options.js';

export function boardsGenerations(options: JsonOption): Promise<number> {
  return withReconciliation(async ({ catalog }) => {
    const generations = await catalog.generations();
    print(generations.map(generationJson), options, toTable);
    return EXIT.ok;
  });
}

function toTable(generations: readonly ReturnType<typeof generationJson>[]): string {
  const rows = generations.map((overview) => {
    const { board, generation, role, since, keptUntil, asOf, startsAt } = overview;
    const times = [since, keptUntil, asOf].map((time) => time ?? '-');
    return [board, role, generation, ...times, startsAt === null ? 'all' : startsText(startsAt)];
  });
  return table(['board', 'role', 'generation', 'since', 'kept until', 'as of', 'history'], rows);
}

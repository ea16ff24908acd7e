import { causeOf } from '../../support/results.js';
import type { Expected } from './expected.js';
import { summary, versionOf, type RunFacts } from './facts.js';

/**
 * In a view, a player's columns before are those after the rank change before: within a generation, and on from one
 * generation to the next as long as the definition is the same. Where that has changed, the replay tells what is before.
 */
export function chainProblems({ rankChanges }: RunFacts, { boards }: Expected): string[] {
  const reigns = new Map(boards.map((history) => [history.board, history.reigns]));
  const last = new Map<string, { readonly reign: number; readonly columns: string }>();
  const broken: string[] = [];
  for (const change of rankChanges) {
    const reign = reigns.get(change.board)?.at(versionOf(change)) ?? 0;
    for (const { view, before, after } of change.changes) {
      const chain = `${change.board}/${change.playerId}/${view}`;
      const known = last.get(chain) ?? { reign: 0, columns: 'null' };
      const found = JSON.stringify(before?.columns ?? null);
      if (known.reign === reign && found !== known.columns)
        broken.push(`${chain} at ${causeOf(change)}: ${known.columns} then ${found}`);
      last.set(chain, { reign, columns: JSON.stringify(after?.columns ?? null) });
    }
  }
  return summary('chains of rank changes that are broken', broken);
}

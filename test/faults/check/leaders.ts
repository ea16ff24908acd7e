import type { BoardDefinition } from '#board';
import { leaderMovements, type LeaderChange } from '#contracts';
import { placingIn } from '../../model/oracle-ranks.js';
import type { Expected } from './expected.js';
import { groupBy, summary, versionOf, type PromotionFact, type RunFacts } from './facts.js';

/**
 * Finds leader changes that are not the difference to the previous leader change of their view, and
 * views whose last leader change does not have the top of the view. After a change of definition,
 * the new top is reported only when the view changes next. A chain (the leader changes of a view)
 * may begin again with the whole top if Redis lost the last reported top, or after a promotion
 * whose new generation did not have the view yet.
 */
export function leaderProblems(
  facts: RunFacts,
  expected: Expected,
  isRedisLost: boolean,
): string[] {
  const { promotions, definitions } = facts;
  const chains = groupBy(
    facts.leaderChanges.toSorted((a, b) => a.version - b.version),
    ({ board, view }) => `${board} ${view}`,
  );
  const broken = [...chains].flatMap(([name, chain]) =>
    brokenSteps(name, chain, { isRedisLost, promotions }),
  );
  const changed = changedByLastDefinition(facts, expected);
  const ends = definitions.flatMap((definition) =>
    expected.oracle.views(definition.board).flatMap((view) => {
      const name = `${definition.board} ${view}`;
      return changed.has(name)
        ? wrongEnd(name, chains.get(name)?.at(-1)?.top ?? [], topOf(expected, definition, view))
        : [];
    }),
  );
  return [
    ...summary('leader changes that do not follow from the previous one of their view', broken),
    ...summary('views whose last leader change does not have their top', ends),
  ];
}

/**
 * Views that changed under the last definition of their board, and all views of a board that had
 * only one definition.
 */
function changedByLastDefinition(
  { definitions, rankChanges }: RunFacts,
  { boards, oracle }: Expected,
): Set<string> {
  /** By board: an epoch is the time during which one definition was live. */
  const epochs = new Map(boards.map((history) => [history.board, history.epochs]));
  const last = (board: string) => (epochs.get(board)?.count ?? 1) - 1;
  const changed = rankChanges
    .filter((change) => epochs.get(change.board)?.at(versionOf(change)) === last(change.board))
    .flatMap(({ board, changes }) => changes.map(({ view }) => `${board} ${view}`));
  const always = definitions
    .filter(({ board }) => last(board) === 0)
    .flatMap(({ board }) => oracle.views(board).map((view) => `${board} ${view}`));
  return new Set([...changed, ...always]);
}

function brokenSteps(
  name: string,
  chain: readonly LeaderChange[],
  { isRedisLost, promotions }: { isRedisLost: boolean; promotions: readonly PromotionFact[] },
): string[] {
  return chain.flatMap((change, index) => {
    const { board, version, since, top, entered, left, moved } = change;
    const isPromotedSince = (from: number) =>
      promotions.some((it) => it.board === board && it.since > from && it.since < version);
    const before = chain[index - 1];
    const last = since === null && before && isPromotedSince(before.version) ? undefined : before;
    if (isRedisLost && since !== (last?.version ?? null) && since !== null) return [];
    const topBefore = since === null && isRedisLost ? [] : (last?.top ?? []);
    const expected = JSON.stringify({
      since: isRedisLost ? since : (last?.version ?? null),
      ...leaderMovements(
        topBefore.map(({ playerId }) => playerId),
        top,
      ),
    });
    const found = JSON.stringify({ since, entered, left, moved });
    return found === expected
      ? []
      : [`${name} at version ${version}: ${found} in place of ${expected}`];
  });
}

function topOf({ oracle }: Expected, { board, publish }: BoardDefinition, view: string) {
  return oracle
    .standings(board, view)
    .slice(0, publish.leaders)
    .map((standing) => ({ playerId: standing.playerId, ...placingIn(standing) }));
}

function wrongEnd(name: string, reported: LeaderChange['top'], top: unknown): string[] {
  const [found, expected] = [JSON.stringify(reported), JSON.stringify(top)];
  return found === expected ? [] : [`${name}: ${found} in place of ${expected}`];
}

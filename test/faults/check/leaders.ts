import type { BoardDefinition } from '#board';
import { leaderMovements, type LeaderChange } from '#contracts';
import { placingIn } from '../../model/oracle-ranks.js';
import type { Expected } from './expected.js';
import { summary, versionOf, type RunFacts } from './facts.js';

/**
 * Leader changes of a view that, in the order of their versions, do not follow from each other, or do not end at the
 * top of the view; the top by another definition is told when the view moves next. Where Redis lost what it had last reported (`resync`), a chain may
 * begin anew with the whole top; so it may after a promotion, in a view that the new generation did not have then.
 */
export function leaderProblems(
  facts: RunFacts,
  expected: Expected,
  { resync }: { resync: boolean },
): string[] {
  const { oracle } = expected;
  const chains = chainsOf(facts.leaderChanges);
  const broken = [...chains].flatMap(([name, chain]) =>
    brokenSteps(name, chain, { resync, promotions: facts.promotions }),
  );
  const moved = movedSinceDefined(facts, expected);
  const ends = facts.definitions.flatMap((definition) =>
    oracle
      .views(definition.board)
      .map((view) => ({ definition, view }))
      .filter(({ view }) => moved.has(`${definition.board} ${view}`))
      .flatMap((at) => wrongEnd(at, chains, expected)),
  );
  return [
    ...summary('leader changes that do not follow from the one before', broken),
    ...summary('views whose last leader change is not their top', ends),
  ];
}

/** Views that were moved by the definition that is live at the end; of a board that has had no other, all. */
function movedSinceDefined(
  { definitions, rankChanges }: RunFacts,
  { boards, oracle }: Expected,
): Set<string> {
  const reigns = new Map(boards.map((history) => [history.board, history.reigns]));
  const last = (board: string) => (reigns.get(board)?.count ?? 1) - 1;
  const moved = rankChanges
    .filter((change) => reigns.get(change.board)?.at(versionOf(change)) === last(change.board))
    .flatMap(({ board, changes }) => changes.map(({ view }) => `${board} ${view}`));
  const always = definitions
    .filter(({ board }) => last(board) === 0)
    .flatMap(({ board }) => oracle.views(board).map((view) => `${board} ${view}`));
  return new Set([...moved, ...always]);
}

function chainsOf(changes: readonly LeaderChange[]): Map<string, LeaderChange[]> {
  const chains = new Map<string, LeaderChange[]>();
  for (const change of changes) {
    const name = `${change.board} ${change.view}`;
    chains.set(name, [...(chains.get(name) ?? []), change]);
  }
  for (const chain of chains.values()) chain.sort((a, b) => a.version - b.version);
  return chains;
}

function brokenSteps(
  name: string,
  chain: readonly LeaderChange[],
  { resync, promotions }: { readonly resync: boolean; readonly promotions: RunFacts['promotions'] },
): string[] {
  return chain.flatMap((change, index) => {
    const { board, version, since, top, entered, left, moved } = change;
    const isPromotionped = (from: number) =>
      promotions.some(
        (promotion) =>
          promotion.board === board && promotion.since > from && promotion.since < version,
      );
    const before = chain[index - 1];
    const last = since === null && before && isPromotionped(before.version) ? undefined : before;
    if (resync && since !== (last?.version ?? null) && since !== null) return [];
    const topBefore = since === null && resync ? [] : idsOf(last?.top ?? []);
    const expected = JSON.stringify({
      since: resync ? since : (last?.version ?? null),
      ...leaderMovements(topBefore, top),
    });
    const found = JSON.stringify({ since, entered, left, moved });
    return found === expected
      ? []
      : [`${name} at version ${version}: ${found} in place of ${expected}`];
  });
}

function wrongEnd(
  {
    definition: { board, publish },
    view,
  }: { readonly definition: BoardDefinition; readonly view: string },
  chains: ReadonlyMap<string, readonly LeaderChange[]>,
  { oracle }: Expected,
): string[] {
  const name = `${board} ${view}`;
  const told = JSON.stringify(chains.get(name)?.at(-1)?.top ?? []);
  const top = oracle
    .standings(board, view)
    .slice(0, publish.leaders)
    .map((standing) => ({ playerId: standing.playerId, ...placingIn(standing) }));
  return told === JSON.stringify(top)
    ? []
    : [`${name}: ${told} in place of ${JSON.stringify(top)}`];
}

function idsOf(top: LeaderChange['top']): string[] {
  return top.map(({ playerId }) => playerId);
}

import type { BoardDefinition, ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import { causeOf } from '../../support/results.js';
import type { Expected } from './expected.js';
import { summary, type RunFacts } from './facts.js';

type Movement = RankChange['changes'][number];

/** One published movement in one view. */
interface Step {
  readonly id: string;
  readonly board: string;
  readonly offset: number;
  readonly movement: Movement;
}

/**
 * Replays the rank changes of each view in the order of (version, offset) on the oracle: ranks and columns before and
 * after, and who was passed, are those of the oracle at each step. So no rank was ever computed on a board that was not
 * the result of all events before.
 */
export function replayProblems(facts: RunFacts, expected: Expected): string[] {
  const definitions = new Map(facts.definitions.map((one) => [one.board, one]));
  const wrong = [...stepsByView(facts.rankChanges)].flatMap(([, steps]) => {
    const definition = definitions.get(steps[0]?.board ?? '');
    return definition === undefined ? [] : wrongSteps(definition, steps, expected);
  });
  return summary('rank changes that are not those of the oracle at their version', wrong);
}

function stepsByView(changes: readonly RankChange[]): Map<string, Step[]> {
  const views = new Map<string, Step[]>();
  for (const change of changes)
    for (const movement of change.changes) {
      const { board, source } = change;
      const name = `${board} ${movement.view}`;
      const steps = views.get(name) ?? [];
      steps.push({ id: causeOf(change), board, offset: source.offset, movement });
      views.set(name, steps);
    }
  for (const steps of views.values())
    steps.sort((a, b) => a.movement.version - b.movement.version || a.offset - b.offset);
  return views;
}

function wrongSteps(
  definition: BoardDefinition,
  steps: readonly Step[],
  { events }: Expected,
): string[] {
  const oracle = new Oracle([definition]);
  return steps.flatMap(({ id, board, movement }) => {
    const { view, version, before, after, overtook } = movement;
    const expected = events.get(id);
    if (expected === undefined) return [`${id}: no event of the log`];
    const { verdict } = oracle.apply(board, inOneView(expected.event, view), expected.partition);
    const told = verdict?.kind === 'rankChange' ? verdict.changes[0] : undefined;
    const found = comparable({ before, after, overtook });
    const wanted = told === undefined ? 'no change' : comparable(told);
    return found === wanted
      ? []
      : [`${id} in ${board} ${view} at ${version}: ${found} in place of ${wanted}`];
  });
}

/** Without its id: only events that are no duplicates were told of, and their clock is not replayed. */
function inOneView(
  { playerId, occurredAt, values, views }: ResolvedEvent,
  view: string,
): ResolvedEvent {
  return { playerId, occurredAt, values, views: views.filter((one) => one.view === view) };
}

type Told = Pick<Movement, 'before' | 'after'> & {
  readonly overtook?: Movement['overtook'] | undefined;
};

function comparable({ before, after, overtook = [] }: Told): string {
  return JSON.stringify([before && placing(before), placing(after), overtook.map(passed)]);
}

function placing({ rank, competitionRank, columns }: Movement['after']) {
  return [rank, competitionRank, Object.entries(columns).sort()];
}

function passed({ playerId, rankBefore, rankAfter }: NonNullable<Movement['overtook']>[number]) {
  return [playerId, rankBefore, rankAfter];
}

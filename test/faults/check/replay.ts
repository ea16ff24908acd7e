import type { BoardDefinition, ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { Players } from '../../model/oracle-ranks.js';
import type { OracleState } from '../../model/oracle-update.js';
import { causeOf } from '../../support/results.js';
import type { Expected, ExpectedEvent } from './expected.js';
import { summary, type RunFacts } from './facts.js';
import { possiblePlaces, type LostTail } from './lost-tail.js';

type Movement = RankChange['changes'][number];

/** One published movement in one view. */
interface Step {
  readonly id: string;
  readonly offset: number;
  readonly movement: Movement;
  readonly cause: ExpectedEvent;
}

/**
 * Replays the rank changes of each view in the order of (version, offset) on the oracle: ranks and columns before and
 * after, and who was passed, are those of the oracle at each step. So no rank was ever computed on a board that was not
 * the result of all events before.
 *
 * `losses`: when Redis lost something, in us since 1970, as versions are. Ranks before may count in what was lost before
 * it was published: see lost-tail.ts.
 */
export function replayProblems(
  facts: RunFacts,
  expected: Expected,
  losses: readonly number[],
): string[] {
  const definitions = new Map(facts.definitions.map((one) => [one.board, one]));
  const views = stepsByView(facts.rankChanges, expected);
  const wrong = [...views.values()].flatMap((steps) => {
    const definition = definitions.get(steps[0]?.cause.board ?? '');
    return definition === undefined ? [] : new ViewReplay(definition, steps, losses).wrongSteps();
  });
  return summary('rank changes that are not those of the oracle at their version', wrong);
}

function stepsByView(
  changes: readonly RankChange[],
  { events }: Expected,
): Map<string, readonly Step[]> {
  const views = new Map<string, Step[]>();
  for (const change of changes) {
    const id = causeOf(change);
    const cause = events.get(id);
    if (cause === undefined) continue; // a result of nothing that was applied: told by the check for exactly once
    for (const movement of change.changes) {
      const name = `${change.board} ${movement.view}`;
      const steps = views.get(name) ?? [];
      const event = inOneView(cause.event, movement.view);
      steps.push({ id, offset: cause.offset, movement, cause: { ...cause, event } });
      views.set(name, steps);
    }
  }
  for (const steps of views.values())
    steps.sort((a, b) => a.movement.version - b.movement.version || a.offset - b.offset);
  return views;
}

/** Without its id: only events that are no duplicates were told of, and their clock is not replayed. */
function inOneView(
  { playerId, occurredAt, values, views }: ResolvedEvent,
  view: string,
): ResolvedEvent {
  return { playerId, occurredAt, values, views: views.filter((one) => one.view === view) };
}

/** The steps of one view, one after the other, on an oracle of its own. */
class ViewReplay {
  readonly #oracle: Oracle;

  constructor(
    private readonly definition: BoardDefinition,
    private readonly steps: readonly Step[],
    private readonly losses: readonly number[],
  ) {
    this.#oracle = new Oracle([definition]);
  }

  wrongSteps(): string[] {
    return this.steps.flatMap((step) => this.#apply(step));
  }

  #apply(step: Step): string[] {
    const { id, movement, cause } = step;
    const { board, event, partition } = cause;
    const before = this.#players(movement.view).get(event.playerId);
    const { verdict } = this.#oracle.apply(board, event, partition);
    const told = verdict?.kind === 'rankChange' ? verdict.changes[0] : undefined;
    const found = comparable(movement);
    const wanted = told === undefined ? 'no change' : comparable(told);
    if (found === wanted) return [];
    const explained =
      told !== undefined &&
      columnsOf(movement) === columnsOf(told) &&
      this.#mayCountInWhatWasLost(step, before);
    return explained
      ? []
      : [
          `${id} in ${board} ${movement.view} at ${movement.version}: ${found} in place of ${wanted}`,
        ];
  }

  #mayCountInWhatWasLost({ movement, cause }: Step, before: OracleState | undefined): boolean {
    const { view, version } = movement;
    const players = this.#players(view);
    const { playerId } = cause.event;
    const after = players.get(playerId);
    const loss = Math.min(...this.losses.filter((time) => time > version));
    if (after === undefined || loss === Infinity) return false;
    const tails = this.#tails({ version, loss, partition: cause.partition });
    const places = [movement.before, movement.after].flatMap((placing) => [
      placing?.rank ?? 0,
      placing?.competitionRank ?? 0,
    ]);
    const mover = { playerId, before, after };
    return possiblePlaces(this.definition, mover, { players, tails }).has(places.join());
  }

  /**
   * What other partitions may have had applied at a version, and lost: the player's own partition had come as far as
   * the event itself.
   */
  #tails(at: { version: number; loss: number; partition: number }): LostTail[] {
    const tails = new Map<number, ExpectedEvent[]>();
    for (const { movement, cause } of this.steps) {
      const wasThere = cause.timestamp * 1_000 <= at.version;
      if (movement.version < at.loss || !wasThere || cause.partition === at.partition) continue;
      const events = tails.get(cause.partition) ?? [];
      events.push(cause);
      tails.set(cause.partition, events);
    }
    return [...tails].map(([partition, events]) => ({ partition, events }));
  }

  #players(view: string): Players {
    return this.#oracle.memory(this.definition.board).views.get(view)?.players ?? NOBODY;
  }
}

const NOBODY: Players = new Map();

type Told = Pick<Movement, 'before' | 'after'> & {
  readonly overtook?: Movement['overtook'] | undefined;
};

function comparable({ before, after, overtook = [] }: Told): string {
  return JSON.stringify([before && placing(before), placing(after), overtook.map(passed)]);
}

function columnsOf({ before, after }: Told): string {
  const texts = (columns: Movement['after']['columns'] | undefined) =>
    Object.entries(columns ?? {}).sort();
  return JSON.stringify([texts(before?.columns), texts(after.columns)]);
}

function placing({ rank, competitionRank, columns }: Movement['after']) {
  return [rank, competitionRank, Object.entries(columns).sort()];
}

function passed({ playerId, rankBefore, rankAfter }: NonNullable<Movement['overtook']>[number]) {
  return [playerId, rankBefore, rankAfter];
}

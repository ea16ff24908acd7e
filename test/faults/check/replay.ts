import { definitionHash, type BoardDefinition, type ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { Players } from '../../model/oracle-ranks.js';
import type { OracleState } from '../../model/oracle-update.js';
import type { BoardHistory, Expected } from './expected.js';
import { summary } from './facts.js';
import { unpublished, type Judgement, type Outcome } from './judgement.js';
import { possiblePlaces, type LostTail } from './lost-tail.js';
import type { PlacedEvent } from './placed-events.js';

type Movement = RankChange['changes'][number];
type Placing = NonNullable<Movement['after']>;

/** An event in one view, as one definition takes it, and what was told of it by that definition. */
interface Step {
  readonly cause: PlacedEvent;
  readonly event: ResolvedEvent;
  readonly version: number;
  /** Undefined where it was told by another definition, or not at all. */
  readonly told?: { readonly movement: Movement | undefined };
}

/**
 * Replays the events of each view on the oracle, in the order in which they were applied, by each definition that the
 * board has had: ranks and columns before and after, and who was passed, are those of the oracle at each rank change of
 * that definition. So no rank was ever computed on a board that was not the result of all events before, by the definition
 * that was live then.
 *
 * `resync`: when Redis lost something, in us since 1970, as versions are. Ranks before may count in what was lost before
 * it was published: see lost-tail.ts.
 */
export function replayProblems({ boards }: Expected, resync: readonly number[]): string[] {
  const wrong = boards.flatMap((history) =>
    [...history.judgements.values()].flatMap((judgement) =>
      [...stepsByView(history, judgement)].flatMap(([view, steps]) =>
        new ViewReplay({ definition: judgement.definition, view, steps, resync }).wrongSteps(),
      ),
    ),
  );
  return summary('rank changes that are not those of the oracle at their version', wrong);
}

function stepsByView(
  { events }: BoardHistory,
  { outcomes, definition }: Judgement,
): Map<string, readonly Step[]> {
  const views = new Map<string, Step[]>();
  for (const cause of events)
    for (const [view, step] of stepsOf(cause, outcomes.get(cause.id), definition)) {
      const steps = views.get(view) ?? [];
      steps.push(step);
      views.set(view, steps);
    }
  for (const steps of views.values())
    steps.sort((a, b) => a.version - b.version || a.cause.offset - b.cause.offset);
  return views;
}

/** The views in which the definition moves the event, and those in which it was told so. */
function stepsOf(
  cause: PlacedEvent,
  outcome: Outcome | undefined,
  definition: BoardDefinition,
): [view: string, Step][] {
  const event = outcome?.event;
  if (event === undefined) return [];
  const told = cause.hash === definitionHash(definition) ? cause.told : undefined;
  const movements = new Map(told?.changes.map((movement) => [movement.view, movement]));
  return [...new Set([...(outcome?.moved ?? []), ...movements.keys()])].map((view) => {
    const movement = movements.get(view);
    const version = movement?.version ?? cause.version;
    const step = { cause, event: inOneView(event, view), version };
    return [view, told === undefined ? step : { ...step, told: { movement } }];
  });
}

/** Without its id: whether an event is a duplicate is decided already. */
function inOneView(
  { playerId, occurredAt, values, views }: ResolvedEvent,
  view: string,
): ResolvedEvent {
  return { playerId, occurredAt, values, views: views.filter((one) => one.view === view) };
}

interface ReplayParts {
  readonly definition: BoardDefinition;
  readonly view: string;
  readonly steps: readonly Step[];
  readonly resync: readonly number[];
}

/** The steps of one view by one definition, one after the other, on an oracle of its own. */
class ViewReplay {
  readonly #oracle: Oracle;

  constructor(private readonly parts: ReplayParts) {
    this.#oracle = new Oracle([parts.definition]);
  }

  wrongSteps(): string[] {
    return this.parts.steps.flatMap((step) => this.#apply(step));
  }

  #apply({ cause, event, version, told }: Step): string[] {
    const { definition, view } = this.parts;
    const { board } = definition;
    if (told === undefined) {
      this.#oracle.apply(board, unpublished(event), cause.partition);
      return [];
    }
    const before = this.#players.get(event.playerId);
    const { verdict } = this.#oracle.apply(board, event, cause.partition);
    const wanted = verdict?.kind === 'rankChange' ? verdict.changes[0] : undefined;
    const found = told.movement;
    if (comparable(found) === comparable(wanted)) return [];
    const isExplained =
      found !== undefined &&
      wanted !== undefined &&
      columnsOf(found) === columnsOf(wanted) &&
      this.#mayCountInWhatWasLost({ cause, event, movement: found }, before);
    return isExplained
      ? []
      : [
          `${cause.id} in ${board} ${view} at ${version}: ${comparable(found)} in place of ${comparable(wanted)}`,
        ];
  }

  #mayCountInWhatWasLost(
    { cause, event, movement }: Pick<Step, 'cause' | 'event'> & { movement: Movement },
    before: OracleState | undefined,
  ): boolean {
    const { definition, resync } = this.parts;
    const { version } = movement;
    const players = this.#players;
    const { playerId } = event;
    const after = players.get(playerId);
    const loss = Math.min(...resync.filter((time) => time > version));
    if (after === undefined || loss === Infinity) return false;
    const tails = this.#tails({ version, loss, partition: cause.partition });
    const places = [movement.before, movement.after].flatMap((placing) => [
      placing?.rank ?? 0,
      placing?.competitionRank ?? 0,
    ]);
    const mover = { playerId, before, after };
    return possiblePlaces(definition, mover, { players, tails }).has(places.join());
  }

  /**
   * What other partitions may have had applied at a version, and lost: the player's own partition had come as far as
   * the event itself.
   */
  #tails(at: { version: number; loss: number; partition: number }): LostTail[] {
    const tails = new Map<number, ResolvedEvent[]>();
    for (const { event, version, cause } of this.parts.steps) {
      const wasThere = cause.timestamp * 1_000 <= at.version;
      if (version < at.loss || !wasThere || cause.partition === at.partition) continue;
      const events = tails.get(cause.partition) ?? [];
      events.push(event);
      tails.set(cause.partition, events);
    }
    return [...tails].map(([partition, events]) => ({ partition, events }));
  }

  get #players(): Players {
    const { definition, view } = this.parts;
    return this.#oracle.memory(definition.board).views.get(view)?.players ?? NOBODY;
  }
}

const NOBODY: Players = new Map();

type Told = Pick<Movement, 'before' | 'after'> & {
  readonly overtook?: Movement['overtook'] | undefined;
};

function comparable(movement: Told | undefined): string {
  if (movement === undefined) return 'no change';
  const { before, after, overtook = [] } = movement;
  return JSON.stringify([before && placing(before), after && placing(after), overtook.map(passed)]);
}

function columnsOf({ before, after }: Told): string {
  const texts = (columns: Placing['columns'] | undefined) => Object.entries(columns ?? {}).sort();
  return JSON.stringify([texts(before?.columns), texts(after?.columns)]);
}

function placing({ rank, competitionRank, columns }: Placing) {
  return [rank, competitionRank, Object.entries(columns).sort()];
}

function passed({ playerId, rankBefore, rankAfter }: NonNullable<Movement['overtook']>[number]) {
  return [playerId, rankBefore, rankAfter];
}

import { definitionHash, type BoardDefinition, type ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { Players } from '../../model/oracle-ranks.js';
import type { OracleState } from '../../model/oracle-update.js';
import {
  unpublished,
  type AppliedEvent,
  type BoardHistory,
  type Expected,
  type Judgement,
  type Outcome,
} from './expected.js';
import { groupBy, summary } from './facts.js';
import { possiblePlaces, type LostTail } from './lost-tail.js';

type Movement = RankChange['changes'][number];
type Placing = NonNullable<Movement['after']>;

/** An event in one view according to one definition, and its published movement. */
interface Step {
  readonly cause: AppliedEvent;
  readonly event: ResolvedEvent;
  readonly version: number;
  /** Undefined if another definition applied the event, or the event has no rank change. `movement`: the change in this view. */
  readonly published?: { readonly movement: Movement | undefined };
}

/**
 * Replays the events of each view on the oracle, in the order in which they were applied, once for each definition of the
 * board. Every rank change by a definition must have the oracle's ranks and columns, before and after, and the oracle's
 * overtaken players. This shows that no rank was computed on a board that lacked an earlier event.
 *
 * `losses`: the times at which Redis lost acknowledged writes, in µs since 1970, like versions. Ranks from before a loss can
 * count events that were lost before they were published: see lost-tail.ts.
 */
export function replayProblems({ boards }: Expected, losses: readonly number[]): string[] {
  const wrong = boards.flatMap((history) =>
    [...history.judgements.values()].flatMap((judgement) =>
      [...stepsByView(history, judgement)].flatMap(([view, steps]) =>
        new ViewReplay({ definition: judgement.definition, view, steps, losses }).wrongSteps(),
      ),
    ),
  );
  return summary('rank changes that are not those of the oracle at their version', wrong);
}

function stepsByView(
  { events }: BoardHistory,
  { outcomes, definition }: Judgement,
): Map<string, readonly Step[]> {
  const steps = events.flatMap((cause) => stepsOf(cause, outcomes.get(cause.id), definition));
  steps.sort(
    (a, b) => a.step.version - b.step.version || a.step.cause.offset - b.step.cause.offset,
  );
  const views = groupBy(steps, ({ view }) => view);
  return new Map([...views].map(([view, all]) => [view, all.map(({ step }) => step)]));
}

/** A step for each view that the event changes according to the definition, and for each view of its rank change. */
function stepsOf(
  cause: AppliedEvent,
  outcome: Outcome | undefined,
  definition: BoardDefinition,
): { view: string; step: Step }[] {
  const event = outcome?.event;
  if (event === undefined) return [];
  const rankChange = cause.hash === definitionHash(definition) ? cause.rankChange : undefined;
  const movements = new Map(rankChange?.changes.map((movement) => [movement.view, movement]));
  return [...new Set([...(outcome?.moved ?? []), ...movements.keys()])].map((view) => {
    const movement = movements.get(view);
    const version = movement?.version ?? cause.version;
    const step = { cause, event: inOneView(event, view), version };
    return { view, step: rankChange === undefined ? step : { ...step, published: { movement } } };
  });
}

/** Limits an event to one view. Leaves out the event id, because it is already known whether the event is a duplicate. */
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
  readonly losses: readonly number[];
}

const NO_PLAYERS: Players = new Map();

/** Replays the steps of one view by one definition on an oracle of its own. */
class ViewReplay {
  readonly #oracle: Oracle;

  constructor(private readonly parts: ReplayParts) {
    this.#oracle = new Oracle([parts.definition]);
  }

  wrongSteps(): string[] {
    return this.parts.steps.flatMap((step) => this.#apply(step));
  }

  #apply({ cause, event, version, published }: Step): string[] {
    const { definition, view } = this.parts;
    const { board } = definition;
    if (published === undefined) {
      this.#oracle.apply(board, unpublished(event), cause.partition);
      return [];
    }
    const before = this.#players.get(event.playerId);
    const { verdict } = this.#oracle.apply(board, event, cause.partition);
    const wanted = verdict?.kind === 'rankChange' ? verdict.changes[0] : undefined;
    const found = published.movement;
    if (comparable(found) === comparable(wanted)) return [];
    const isExplained =
      found !== undefined &&
      wanted !== undefined &&
      columnsOf(found) === columnsOf(wanted) &&
      this.#mayCountLostEvents(cause.partition, { event, movement: found }, before);
    if (isExplained) return [];
    const difference = `${comparable(found)} in place of ${comparable(wanted)}`;
    return [`${cause.id} in ${board} ${view} at ${version}: ${difference}`];
  }

  #mayCountLostEvents(
    partition: number,
    { event: { playerId }, movement }: { event: ResolvedEvent; movement: Movement },
    before: OracleState | undefined,
  ): boolean {
    const { definition, losses } = this.parts;
    const { version } = movement;
    const players = this.#players;
    const after = players.get(playerId);
    const loss = Math.min(...losses.filter((time) => time > version));
    if (after === undefined || loss === Infinity) return false;
    const tails = this.#lostTails({ version, loss, partition });
    const places = [movement.before, movement.after].flatMap((placing) => [
      placing?.rank ?? 0,
      placing?.competitionRank ?? 0,
    ]);
    const mover = { playerId, before, after };
    return possiblePlaces(definition, mover, { players, tails }).has(places.join());
  }

  /** The events that the other partitions may have applied before a version, and lost later. */
  #lostTails(at: { version: number; loss: number; partition: number }): LostTail[] {
    const lost = this.parts.steps.filter(
      ({ version, cause }) =>
        version >= at.loss &&
        cause.writtenSince * 1_000 <= at.version &&
        cause.partition !== at.partition,
    );
    const tails = groupBy(lost, ({ cause }) => cause.partition);
    return [...tails.values()].map((steps) => steps.map(({ event }) => event));
  }

  get #players(): Players {
    const { definition, view } = this.parts;
    return this.#oracle.memory(definition.board).views.get(view)?.players ?? NO_PLAYERS;
  }
}

type Places = Pick<Movement, 'before' | 'after'> & {
  readonly overtook?: Movement['overtook'] | undefined;
};

function comparable(movement: Places | undefined): string {
  if (movement === undefined) return 'no change';
  const { before, after, overtook = [] } = movement;
  const names = overtook.map((it) => [it.playerId, it.rankBefore, it.rankAfter]);
  return JSON.stringify([before && placing(before), after && placing(after), names]);
}

function columnsOf({ before, after }: Places): string {
  const texts = (columns: Placing['columns'] | undefined) => Object.entries(columns ?? {}).sort();
  return JSON.stringify([texts(before?.columns), texts(after?.columns)]);
}

function placing({ rank, competitionRank, columns }: Placing) {
  return [rank, competitionRank, Object.entries(columns).sort()];
}

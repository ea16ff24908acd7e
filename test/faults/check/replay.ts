import { definitionHash, type BoardDefinition, type ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import type { OracleOutcome, OracleRecord } from '../../model/oracle-memory.js';
import { placedPlayers } from '../../model/oracle-players.js';
import { Oracle } from '../../model/oracle.js';
import type { Players } from '../../model/oracle-ranks.js';
import {
  unpublished,
  type AppliedRecord,
  type BoardHistory,
  type Expected,
  type Judgement,
  type Outcome,
} from './expected.js';
import { groupBy, summary } from './facts.js';
import { possiblePlaces, type LostTail, type Mover } from './lost-tail.js';

type Movement = RankChange['changes'][number];
type Placing = NonNullable<Movement['after']>;

/** A record in one view according to one definition, and its published movement. */
interface Step {
  readonly cause: AppliedRecord;
  readonly change: ResolvedEvent | OracleRecord;
  readonly version: number;
  /**
   * Undefined if another definition applied the record, or it has no rank change. `movement`: the
   * change in this view.
   */
  readonly published?: { readonly movement: Movement | undefined };
}

/**
 * Replays the records of each view on the oracle, in the order in which they were applied, once for
 * each definition of the board. Every rank change by a definition must have the oracle's ranks and
 * columns, before and after, and the oracle's overtaken players. This shows that no rank was
 * computed on a board that lacked an earlier record.
 *
 * `losses`: the times at which Redis lost acknowledged writes, in µs since 1970, like versions.
 * Ranks from before a loss can count records that were lost before they were published: see
 * lost-tail.ts.
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
  { board, records }: BoardHistory,
  { outcomes, definition, oracle }: Judgement,
): Map<string, readonly Step[]> {
  const all = oracle.views(board);
  const steps = records.flatMap((cause) =>
    stepsOf(cause, outcomes.get(cause.id), { definition, all }),
  );
  steps.sort(
    (a, b) => a.step.version - b.step.version || a.step.cause.offset - b.step.cause.offset,
  );
  const views = groupBy(steps, ({ view }) => view);
  return new Map([...views].map(([view, all]) => [view, all.map(({ step }) => step)]));
}

/**
 * A step for each view in which the record changes a state according to the definition, and for
 * each view of its rank change. A player record has one for all views, as it counts for their later
 * events.
 */
function stepsOf(
  cause: AppliedRecord,
  outcome: Outcome | undefined,
  { definition, all }: { definition: BoardDefinition; all: readonly string[] },
): { view: string; step: Step }[] {
  const change = 'player' in cause ? cause.player : outcome?.event;
  if (change === undefined) return [];
  const rankChange = cause.hash === definitionHash(definition) ? cause.rankChange : undefined;
  const movements = new Map(rankChange?.changes.map((movement) => [movement.view, movement]));
  const changed = 'player' in cause ? all : (outcome?.changed ?? []);
  return [...new Set([...changed, ...movements.keys()])].map((view) => {
    const movement = movements.get(view);
    const version = movement?.version ?? cause.version;
    const step = { cause, change: 'kind' in change ? change : inOneView(change, view), version };
    return { view, step: rankChange === undefined ? step : { ...step, published: { movement } } };
  });
}

/**
 * Limits an event to one view. Leaves out the event id, because it is already known whether the
 * event is a duplicate.
 */
export function inOneView(
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

  #apply(step: Step): string[] {
    const { cause, change, version, published } = step;
    const before = this.#placed.get(change.playerId);
    const { verdict } = this.#applyTo(this.#oracle, step);
    if (published === undefined) return [];
    const wanted = verdict?.kind === 'rankChange' ? verdict.changes[0] : undefined;
    const found = published.movement;
    if (comparable(found) === comparable(wanted)) return [];
    const mover = {
      playerId: change.playerId,
      before,
      after: this.#placed.get(change.playerId),
    };
    const isExplained =
      found !== undefined &&
      wanted !== undefined &&
      columnsOf(found) === columnsOf(wanted) &&
      this.#mayCountLostRecords(cause.partition, found, mover);
    if (isExplained) return [];
    const { definition, view } = this.parts;
    const difference = `${comparable(found)} in place of ${comparable(wanted)}`;
    return [`${cause.id} in ${definition.board} ${view} at ${version}: ${difference}`];
  }

  /** The outcome has the ranks if the step is published. */
  #applyTo(oracle: Oracle, { cause, change, published }: Step): OracleOutcome {
    const { definition, view } = this.parts;
    const { board } = definition;
    if (!('kind' in change)) {
      const event = published === undefined ? unpublished(change) : change;
      return oracle.apply(board, event, cause.partition);
    }
    const { views } = oracle.memory(board);
    const found = views.get(view);
    if (found !== undefined) views.set(view, { ...found, published: published !== undefined });
    return oracle.join(board, change);
  }

  #mayCountLostRecords(partition: number, movement: Movement, mover: Mover): boolean {
    const { definition, losses } = this.parts;
    const { version } = movement;
    const loss = Math.min(...losses.filter((time) => time > version));
    if (loss === Infinity) return false;
    const tails = this.#lostTails({ version, loss, partition });
    const places = [movement.before, movement.after].flatMap((placing) => [
      placing?.rank ?? 0,
      placing?.competitionRank ?? 0,
    ]);
    const board = { players: this.#placed, tails };
    return possiblePlaces(definition, mover, board).has(places.join());
  }

  /** The records that the other partitions may have applied before a version, and lost later. */
  #lostTails(at: { version: number; loss: number; partition: number }): LostTail[] {
    const lost = this.parts.steps.filter(
      ({ version, cause }) =>
        version >= at.loss &&
        cause.writtenSince * 1_000 <= at.version &&
        cause.partition !== at.partition,
    );
    const tails = groupBy(lost, ({ cause }) => cause.partition);
    return [...tails.values()].map((steps) => this.#tailOf(steps));
  }

  #tailOf(steps: readonly Step[]): LostTail {
    const oracle = this.#oracle.copy();
    const touched = new Set(steps.map(({ change }) => change.playerId));
    const players = () => new Map([...this.#placedIn(oracle)].filter(([id]) => touched.has(id)));
    const stages = [players()];
    for (const { cause, change } of steps) {
      this.#applyTo(oracle, { cause, change, version: 0 });
      stages.push(players());
    }
    return { touched, stages };
  }

  get #placed(): Players {
    return this.#placedIn(this.#oracle);
  }

  /** The players in the ranking. */
  #placedIn(oracle: Oracle): Players {
    const { definition, view } = this.parts;
    const found = oracle.memory(definition.board).views.get(view);
    return found === undefined ? NO_PLAYERS : placedPlayers(found);
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

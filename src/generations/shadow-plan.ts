import { definitionText, type BoardDefinition } from '#board';
import type { GenerationStore, Lease, Shadow, Starts } from '#board-store';
import { logRanges, offsetsAtTime, type LogRange } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { HistoryCutError } from './errors.js';
import {
  cutPartitions,
  isBetween,
  neededFrom,
  sameStarts,
  startsOfRest,
  nextOf,
  type OpenShadow,
} from './history.js';
import { startsAtTime, type TimedLog } from './log-times.js';

/** Where a build begins that is not to begin where what is live does: at a time in ms, or with all that the log has. */
export type From = number | 'start';

/** What a shadow is to be. */
export interface ShadowWish {
  readonly definition: BoardDefinition;
  readonly purpose: 'build' | 'verify' | 'snapshot';
  /** Where what is live begins in the log: the shadow begins there, too, unless `from` says otherwise. */
  readonly starts?: Starts | undefined;
  /** A time in ms, or all that the log has. */
  readonly from?: From | undefined;
  /** A time in ms, the last that it takes in. */
  readonly until?: number | undefined;
  readonly allowPartialHistory?: boolean | undefined;
}

/** A wish in terms of the log. */
interface Plan extends Pick<ShadowWish, 'definition' | 'purpose'> {
  readonly starts?: Starts;
  readonly ends?: Starts;
  readonly asOf?: number;
}

/** Begins the shadow, or goes on with it. @throws LeaseLostError */
export type OpenPlanned = (lease: Lease) => Promise<OpenShadow>;

/** Makes wishes for shadows come true: goes on with what a killed run left, if it is the same; begins anew otherwise. */
export class ShadowPlanner {
  constructor(private readonly log: TimedLog & { readonly generations: GenerationStore }) {}

  /** Nothing is written before it is opened. @throws HistoryCutError */
  async plan(wish: ShadowWish): Promise<OpenPlanned> {
    const plan = await this.#inTermsOfTheLog(wish);
    const ranges = await logRanges(this.log.admin, this.log.topic);
    const mayBePartial = wish.allowPartialHistory === true || lacksNoMore(wish, ranges);
    const rest = mayBePartial ? startsOfRest(plan.starts, ranges) : plan.starts;
    const left = await this.#leftBehind({ ...plan, rest }, ranges);
    if (left !== undefined) return () => Promise.resolve(left);
    const whole = this.#withHistory(plan, { ...wish, allowPartialHistory: mayBePartial }, ranges);
    return (lease) => this.#begin(lease, whole);
  }

  async #begin(lease: Lease, plan: Plan): Promise<OpenShadow> {
    await tellGivenUp(this.log, lease.board, plan.purpose);
    const shadow = await this.log.generations.begin(lease, plan);
    return { shadow, appliedOffsets: await this.log.generations.shadowAppliedOffsets(shadow) };
  }

  async #inTermsOfTheLog({ definition, purpose, starts, from, until }: ShadowWish): Promise<Plan> {
    const begins = await this.#begins({ definition, starts, from });
    const plan = { definition, purpose, ...(begins === undefined ? {} : { starts: begins }) };
    if (until === undefined) return plan;
    const ends = await offsetsAtTime(this.log.admin, this.log.topic, until + 1);
    return { ...plan, ends, asOf: until };
  }

  async #begins({
    definition,
    starts,
    from,
  }: Pick<ShadowWish, 'definition' | 'starts' | 'from'>): Promise<Starts | undefined> {
    if (from === undefined) return starts;
    return from === 'start' ? undefined : startsAtTime(this.log, definition.board, from);
  }

  /** What a killed run left, if it is what is wished for, and the log still has what comes next. */
  async #leftBehind(
    plan: Plan & { readonly rest: Starts | undefined },
    ranges: ReadonlyMap<number, LogRange>,
  ): Promise<OpenShadow | undefined> {
    const shadow = await this.log.generations.shadow(plan.definition.board);
    if (shadow === undefined || !isSame(shadow, plan)) return undefined;
    const left = {
      shadow,
      appliedOffsets: await this.log.generations.shadowAppliedOffsets(shadow),
    };
    return cutPartitions({ needed: nextOf(left), ranges }).length === 0 ? left : undefined;
  }

  #withHistory(plan: Plan, wish: ShadowWish, ranges: ReadonlyMap<number, LogRange>): Plan {
    const { starts, definition, purpose } = plan;
    const known = typeof wish.from === 'number' ? neededFrom(starts ?? new Map(), ranges) : starts;
    const needed = (partition: number) => known?.get(partition) ?? 0;
    const cut = cutPartitions({ needed, ranges });
    if (cut.length === 0) return plan;
    if (wish.allowPartialHistory !== true)
      throw new HistoryCutError([definition.board], cut, purpose !== 'verify');
    return { ...plan, starts: startsOfRest(starts, ranges) };
  }
}

/** A partial history may have been cut further since the shadow was begun: then it begins before `rest`. */
function isSame(
  shadow: Shadow,
  { definition, purpose, starts, rest, ends }: Plan & { readonly rest: Starts | undefined },
): boolean {
  return (
    shadow.purpose === purpose &&
    definitionText(shadow.definition) === definitionText(definition) &&
    isBetween(shadow.starts, starts, rest) &&
    sameStarts(shadow.ends, ends)
  );
}

/** Whether the log still holds all that what is live begins with: what that lacks already may be lacking. */
function lacksNoMore({ starts, from }: ShadowWish, ranges: ReadonlyMap<number, LogRange>): boolean {
  if (starts === undefined || typeof from === 'number') return false;
  const needed = (partition: number) => starts.get(partition) ?? 0;
  return cutPartitions({ needed, ranges }).length === 0;
}

type Shadows = Pick<GenerationStore, 'shadow'>;

/** The shadow that a killed build or snapshot has left: the next one may continue it. */
export async function leftBehind(generations: Shadows, board: string): Promise<Shadow | undefined> {
  const shadow = await generations.shadow(board);
  return shadow?.purpose === 'build' || shadow?.purpose === 'snapshot' ? shadow : undefined;
}

/** A board has only one shadow: logs that another run replaces the one that was left. */
export async function tellGivenUp(
  { generations, logger }: { readonly generations: Shadows; readonly logger: Logger },
  board: string,
  taker: string,
): Promise<void> {
  const left = await leftBehind(generations, board);
  if (left === undefined) return;
  logger.warn(
    `board "${board}": what a killed ${left.purpose} had built (generation ${left.generation}) is given up for this ${taker}`,
  );
}

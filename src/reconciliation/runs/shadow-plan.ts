import { definitionText } from '#board';
import type { GenerationStore, Lease, NewShadow, Shadow, Starts } from '#board-store';
import { logRanges, offsetsAtTime, type LogRange } from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import {
  cutPartitions,
  isBetween,
  neededFrom,
  startsAtTime,
  startsOfRest,
  nextOffsets,
  type HistoryParts,
  type OpenShadow,
} from './log-history.js';
import { HistoryCutError } from './run-errors.js';

/** Begins a build elsewhere than the live generation: at a time in ms, or at the log's start. */
export type From = number | 'start';

/** The shadow that a reconciliation asks for. */
export interface ShadowRequest extends Pick<NewShadow, 'definition' | 'purpose'> {
  /** Where the live generation begins in the log; without `from`, the shadow begins there, too. */
  readonly starts?: Starts | undefined;
  readonly from?: From | undefined;
  /** The last record time that a snapshot includes, in ms. */
  readonly until?: number | undefined;
  /** Builds from the rest of the log if its beginning is gone. */
  readonly allowPartialHistory?: boolean | undefined;
}

/** How a shadow begins. */
export type ShadowPlan =
  | { readonly kind: 'continue'; readonly left: OpenShadow }
  | { readonly kind: 'begin'; readonly shadow: NewShadow }
  | { readonly kind: 'rollback' };

type PlanParts = HistoryParts & { readonly generations: GenerationStore };
type OpenParts = Omit<PlanParts, 'admin' | 'signal'>;
type Ranges = ReadonlyMap<number, LogRange>;

/**
 * Plans to continue the present shadow if it matches the request, else to begin one. Writes
 * nothing.
 * @throws HistoryCutError
 */
export async function planShadow(log: PlanParts, request: ShadowRequest): Promise<ShadowPlan> {
  const { definition, purpose, from, allowPartialHistory = false } = request;
  const plan = await inOffsets(log, request);
  const ranges = await logRanges(log.kafka, log.topic);
  const mayBePartial = allowPartialHistory || holdsLiveHistory(request, ranges);
  const rest = startsOfRest(plan.starts, ranges);
  const left = await resumable(log, plan, { ranges, latest: mayBePartial ? rest : plan.starts });
  if (left !== undefined) return { kind: 'continue', left };

  const isFromTime = typeof from === 'number';
  const needed = isFromTime ? neededFrom(plan.starts ?? new Map(), ranges) : plan.starts;
  const cut = cutPartitions(ranges, needed);
  if (cut.length === 0) return { kind: 'begin', shadow: plan };
  if (mayBePartial) return { kind: 'begin', shadow: { ...plan, starts: rest } };
  throw new HistoryCutError([definition.board], cut, purpose !== 'verify');
}

/**
 * Begins or continues a planned shadow.
 * @throws LeaseLostError, HistoryCutError
 */
export async function openShadow(
  log: OpenParts,
  lease: Lease,
  plan: ShadowPlan,
): Promise<OpenShadow> {
  switch (plan.kind) {
    case 'continue':
      return plan.left;
    case 'begin':
      return begin(log, lease, plan.shadow);
    case 'rollback':
      return beginRollback(log, lease);
  }
}

async function begin(log: OpenParts, lease: Lease, plan: NewShadow): Promise<OpenShadow> {
  await warnOfDiscardedShadow(log, lease.board, plan.purpose);
  const shadow = await log.generations.begin(lease, plan);
  return { shadow, appliedOffsets: await log.generations.shadowAppliedOffsets(shadow) };
}

/** Makes the previous generation the shadow, if the log still has the records that it lacks. */
async function beginRollback(log: OpenParts, lease: Lease): Promise<OpenShadow> {
  const { generations, kafka, topic } = log;
  await warnOfDiscardedShadow(log, lease.board, 'rollback');
  const shadow = await generations.beginRollback(lease);
  const opened = { shadow, appliedOffsets: await generations.shadowAppliedOffsets(shadow) };
  const cut = cutPartitions(await logRanges(kafka, topic), nextOffsets(opened));
  if (cut.length === 0) return opened;

  await generations.discard(lease, shadow);
  throw new HistoryCutError([lease.board], cut, false);
}

/** The request with its times as offsets. */
async function inOffsets(log: PlanParts, request: ShadowRequest): Promise<NewShadow> {
  const { definition, purpose, from, until } = request;
  let { starts } = request;
  if (from === 'start') starts = undefined;
  else if (from !== undefined) starts = await startsAtTime(log, definition.board, from);
  const plan = { definition, purpose, ...(starts === undefined ? {} : { starts }) };
  if (until === undefined) return plan;

  const ends = await offsetsAtTime(log.admin, log.topic, until + 1);
  return { ...plan, ends, asOf: until };
}

/**
 * The shadow that an earlier reconciliation has left, if it matches the plan and the log still
 * holds the records that it lacks.
 */
async function resumable(
  { generations }: PlanParts,
  { definition, purpose, starts, ends }: NewShadow,
  { ranges, latest }: { readonly ranges: Ranges; readonly latest: Starts | undefined },
): Promise<OpenShadow | undefined> {
  const shadow = await generations.shadow(definition.board);
  const isPlanned =
    shadow?.purpose === purpose &&
    definitionText(shadow.definition) === definitionText(definition) &&
    // The log may have been cut further since the shadow was begun
    isBetween(shadow.starts, starts, latest) &&
    isBetween(shadow.ends, ends, ends);
  if (!isPlanned) return undefined;

  const left = { shadow, appliedOffsets: await generations.shadowAppliedOffsets(shadow) };
  return cutPartitions(ranges, nextOffsets(left)).length === 0 ? left : undefined;
}

/**
 * Whether the log still holds all records from where the live generation begins. If so, a shadow
 * needs no `allowPartialHistory`: it lacks only records that the live generation lacks, too.
 */
function holdsLiveHistory({ starts, from }: ShadowRequest, ranges: Ranges): boolean {
  if (starts === undefined || typeof from === 'number') return false;
  return cutPartitions(ranges, starts).length === 0;
}

type Shadows = Pick<GenerationStore, 'shadow'>;

/** Whether the next reconciliation of this kind can continue the shadow of a killed one. */
export function isResumable(kind: Shadow['purpose']): boolean {
  return kind === 'build' || kind === 'snapshot';
}

/** The shadow of an earlier reconciliation, if the next one of its kind can continue it. */
export async function leftShadow(generations: Shadows, board: string): Promise<Shadow | undefined> {
  const shadow = await generations.shadow(board);
  return shadow && isResumable(shadow.purpose) ? shadow : undefined;
}

/** Warns if a reconciliation discards the shadow of a build or snapshot: a board has only one. */
async function warnOfDiscardedShadow(
  { generations, logger }: { readonly generations: Shadows; readonly logger: Logger },
  board: string,
  run: string,
): Promise<void> {
  const left = await leftShadow(generations, board);
  if (left === undefined) return;

  logger.warn(
    `board "${board}": this ${run} discards what a killed ${left.purpose} had built ` +
      `(generation ${left.generation})`,
  );
}

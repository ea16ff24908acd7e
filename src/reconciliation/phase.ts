import type { Counts, Progress } from './progress-meter.js';

/** What is done at present, counted in `unit`. */
export interface Phase extends Counts {
  readonly unit: 'records' | 'players in order';
  /** Per second. */
  readonly rate: number;
}

/** Players that are put in order, until all are; before and after that, records of the log that are read. */
export function phaseOf({
  done,
  total,
  rate,
  ordering,
}: Pick<Progress, 'done' | 'total' | 'rate' | 'ordering'>): Phase {
  if (ordering !== undefined && ordering.done < ordering.total)
    return { ...ordering, unit: 'players in order' };
  return { done, total, rate, unit: 'records' };
}

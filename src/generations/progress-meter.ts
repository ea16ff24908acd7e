/** How much is done, of how much. */
export interface Counts {
  readonly done: number;
  readonly total: number;
}

/** Records of the log to read, up to the live applied offsets. */
export interface WorkCounts extends Counts {
  /** Players that are put in order behind that, one for each view: an estimate until it is begun. Missing where none are. */
  readonly ordering?: Counts & { readonly isBegun: boolean };
}

/** How far a run is: records of the log that are done, of those that are to be read; rates per second over the last seconds. */
export interface Progress extends Counts {
  readonly rate: number;
  /** Once it is begun. */
  readonly ordering?: Counts & { readonly rate: number };
  /** Until all of it is done. null: not known yet, or the log grows as fast as it is read. */
  readonly secondsLeft: number | null;
}

interface Sample {
  readonly at: number;
  readonly records: Counts;
  readonly players: Counts;
}

/** The rate is that of so many ms, and is not told of less than so many. */
const SPAN_MS = 5_000;
const SHORTEST_SPAN_MS = 1_000;

const NOBODY: Counts = { done: 0, total: 0 };

/** Turns counts into rates and the time that is left. */
export class ProgressMeter {
  #samples: Sample[] = [];

  /** `now` is a clock in ms. */
  constructor(private readonly now: () => number) {}

  /** So much is done by now. What was done before the first call took no time of this run. */
  note({ done, total, ordering }: WorkCounts): Progress {
    const at = this.now();
    const last: Sample = { at, records: { done, total }, players: ordering ?? NOBODY };
    const firstKept = this.#samples.findIndex((sample) => sample.at >= at - SPAN_MS);
    this.#samples = firstKept < 0 ? [] : this.#samples.slice(Math.max(0, firstKept - 1));
    this.#samples.push(last);
    const speed = speedOf(this.#samples[0] ?? last, last);
    const seconds = secondsLeft(last, speed);
    const isEnd = ordering?.total !== 0; // no player is known before something is read
    const progress = {
      ...{ done, total, rate: Math.round(speed.records) },
      secondsLeft: seconds === 0 && !isEnd ? null : seconds,
    };
    if (ordering?.isBegun !== true) return progress;
    const players = { done: ordering.done, total: ordering.total };
    return { ...progress, ordering: { ...players, rate: Math.round(speed.players) } };
  }
}

/** Per second; 0 while it is not known. `growth` is that of the log. */
interface Speed {
  readonly records: number;
  readonly players: number;
  readonly growth: number;
}

function speedOf(first: Sample, last: Sample): Speed {
  const ms = last.at - first.at;
  const perSecond = (count: (sample: Sample) => number) =>
    ms < SHORTEST_SPAN_MS ? 0 : ((count(last) - count(first)) / ms) * 1_000;
  return {
    records: perSecond(({ records }) => records.done),
    players: perSecond(({ players }) => players.done),
    growth: perSecond(({ records }) => records.total),
  };
}

/** A throttle counts a player as a record; without one, a player takes less. That players become known is no growth of the log. */
function secondsLeft({ records, players }: Sample, speed: Speed): number | null {
  const left = records.total - records.done + players.total - players.done;
  if (left === 0) return 0;
  const gain = speed.records + speed.players - speed.growth;
  return gain > 0 ? Math.ceil(left / gain) : null;
}

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

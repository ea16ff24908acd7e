import type { Publish } from '#board';
import type { EventEntry, LiveBoard } from '#board-store';
import type { ReadRecord } from './read-record.js';

/** What one apply call may hold: enough to be fast, short enough that a reader never waits long behind it. */
export const MOST_ENTRIES = 500;
export const MOST_VIEW_UPDATES = 2_000;

/** So many players who are named, as passed or in a top, take about as long as one view update. */
const NAMES_OF_AN_UPDATE = 20;

type Boards = ReadonlyMap<string, Pick<LiveBoard, 'definition'>>;

/** Consecutive offsets of one partition, from `from` to `through`, and the records among them. */
export interface Run<T> {
  readonly from: number;
  readonly through: number;
  readonly items: readonly T[];
}

/** Where a batch begins and ends in the log, and the position that no run may straddle. */
export interface BatchPosition {
  readonly from: number;
  readonly nextOffset: number;
  readonly published: number;
}

/**
 * Cuts a batch into runs of at most MOST_ENTRIES entries and about MOST_VIEW_UPDATES view updates, none of which
 * straddles the published position. Together they cover every offset of the batch, also those without a record.
 */
export function splitRuns<T extends Pick<ReadRecord, 'entry'>>(
  items: readonly T[],
  { from, nextOffset, published, boards }: BatchPosition & { readonly boards: Boards },
): Run<T>[] {
  const runs: Run<T>[] = [];
  let begin = from;
  let open: T[] = [];
  let work = new Work(boards);
  const closeAt = (end: number) => {
    runs.push({ from: begin, through: end - 1, items: open });
    begin = end;
    open = [];
    work = new Work(boards);
  };
  for (const item of items) {
    const { offset } = item.entry;
    if (begin < published && published <= offset) closeAt(published);
    if (open.length === MOST_ENTRIES || !work.hasRoomFor(work.shareOf(item.entry))) closeAt(offset);
    open.push(item);
    work.add(work.shareOf(item.entry));
  }
  if (begin < published && published < nextOffset) closeAt(published);
  closeAt(nextOffset);
  return runs;
}

/** An entry's part of the work of a run; `tops` are views that no entry before it has reported. */
interface Share {
  readonly updates: number;
  readonly tops: readonly string[];
}

/** What the entries of a run make the apply script do, in view updates. */
class Work {
  #updates = 0;
  /** Views whose top is looked at, once at the end of the call. */
  readonly #reported = new Set<string>();

  constructor(private readonly boards: Boards) {}

  hasRoomFor({ updates }: Share): boolean {
    return this.#updates + updates <= MOST_VIEW_UPDATES;
  }

  add({ updates, tops }: Share): void {
    this.#updates += updates;
    for (const name of tops) this.#reported.add(name);
  }

  /** What one more entry would add. */
  shareOf(entry: ReadRecord['entry']): Share {
    if (entry.kind !== 'event') return { updates: 0, tops: [] };
    const { views } = entry.event;
    const { overtook, leaders } = this.#publish(entry);
    if (overtook === 0 && leaders === 0) return { updates: views.length, tops: [] };
    const told = views.filter(({ published }) => published);
    const names = leaders === 0 ? [] : told.map(({ view }) => `${entry.board} ${view}`);
    const tops = names.filter((name) => !this.#reported.has(name));
    const named = overtook * told.length + leaders * tops.length;
    return { updates: views.length + named / NAMES_OF_AN_UPDATE, tops };
  }

  #publish({ board }: EventEntry): Pick<Publish, 'overtook' | 'leaders'> {
    return this.boards.get(board)?.definition.publish ?? { overtook: 0, leaders: 0 };
  }
}

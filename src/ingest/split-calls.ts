import type { Publish } from '#board';
import type { ApplyEntry, EventEntry, LiveBoard } from '#board-store';

/** What one apply call may hold: enough to be fast, short enough that a reader never waits long behind it. */
export const MOST_ENTRIES = 500;
export const MOST_VIEW_UPDATES = 2_000;

/** So many players who are named, as passed or in a top, take about as long as one view update. */
const NAMES_OF_AN_UPDATE = 20;

type Boards = ReadonlyMap<string, Pick<LiveBoard, 'definition'>>;

/** A run of consecutive records of one partition; `through` is its last offset. */
export interface Run<T> {
  readonly through: number;
  readonly items: readonly T[];
}

/**
 * Cuts records in offset order into runs of at most MOST_ENTRIES entries and about MOST_VIEW_UPDATES view updates,
 * none of which straddles the published position. The last run reaches to `nextOffset` - 1, so that a batch that ends
 * in offsets without records moves the watermark over them.
 */
export function splitRuns<T extends { readonly entry: ApplyEntry }>(
  items: readonly T[],
  {
    published,
    nextOffset,
    boards,
  }: { readonly published: number; readonly nextOffset: number; readonly boards: Boards },
): Run<T>[] {
  const runs: { through: number; items: T[] }[] = [];
  let work = new Work(boards);
  for (const item of items) {
    const { offset } = item.entry;
    const open = runs.at(-1);
    const crosses = open !== undefined && open.through < published && offset >= published;
    const full = open?.items.length === MOST_ENTRIES || !work.hasRoomFor(item.entry);
    if (open === undefined || crosses || full) {
      runs.push({ through: offset, items: [item] });
      work = new Work(boards);
    } else {
      open.items.push(item);
      open.through = offset;
    }
    work.add(item.entry);
  }
  return extendLast(runs, nextOffset - 1, published);
}

/** What the entries of a run make the apply script do, in view updates. */
class Work {
  #updates = 0;
  /** Views whose top is looked at, once at the end of the call. */
  readonly #reported = new Set<string>();

  constructor(private readonly boards: Boards) {}

  hasRoomFor(entry: ApplyEntry): boolean {
    return this.#updates + this.#workOf(entry) <= MOST_VIEW_UPDATES;
  }

  add(entry: ApplyEntry): void {
    this.#updates += this.#workOf(entry);
    for (const name of this.#newTops(entry)) this.#reported.add(name);
  }

  #workOf(entry: ApplyEntry): number {
    if (entry.kind === 'deadLetter') return 0;
    const { views } = entry.event;
    const { overtook, leaders } = this.#publish(entry);
    const told = overtook === 0 ? 0 : views.filter(({ published }) => published).length;
    const names = overtook * told + leaders * this.#newTops(entry).length;
    return views.length + names / NAMES_OF_AN_UPDATE;
  }

  #newTops(entry: ApplyEntry): string[] {
    if (entry.kind === 'deadLetter' || this.#publish(entry).leaders === 0) return [];
    return entry.event.views
      .filter(({ published }) => published)
      .map(({ view }) => `${entry.board} ${view}`)
      .filter((name) => !this.#reported.has(name));
  }

  #publish({ board }: EventEntry): Pick<Publish, 'overtook' | 'leaders'> {
    return this.boards.get(board)?.definition.publish ?? { overtook: 0, leaders: 0 };
  }
}

function extendLast<T>(
  runs: { through: number; items: T[] }[],
  through: number,
  published: number,
): Run<T>[] {
  const last = runs.at(-1);
  if (last !== undefined && last.through < published && through >= published)
    runs.push({ through, items: [] });
  else if (last !== undefined) last.through = through;
  return runs;
}

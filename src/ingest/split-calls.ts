import type { BoardDefinition, ResolvedView } from '#board';
import type { EventEntry, LiveBoard } from '#board-store';
import type { ReadRecord } from './read-record.js';

/** What one call of a script may bring. */
export interface CallLimits {
  readonly entries: number;
  readonly viewUpdates: number;
}

/**
 * What one apply call may hold: enough to be fast, and short enough that Redis is not blocked for longer than about 50 ms. The unit
 * is the update of a view of one column whose ranks are not published; `npm run bench:apply -- --longest` measures the rest.
 */
export const FULL_CALL: CallLimits = { entries: 500, viewUpdates: 2_000 };

/** Bytes of the entries of one call; an entry that is larger has a call of its own. */
export const MOST_BYTES = 1_048_576;

/** What an update with ranks before and after costs, and what each further column adds, as part of that. */
const UPDATE_WITH_RANKS = 2;
const FURTHER_COLUMN = 1 / 8;
/** What reading and storing a view adds, once a call. */
const UPDATES_OF_A_VIEW = 2;
/** So many players who are named, as passed or in a top, take about as long as one update. */
const NAMES_OF_AN_UPDATE = 10;

/** An entry's bytes at most, but for the texts below. */
const BYTES_OF_AN_ENTRY = 512;
/** A view of the entry: its number and the rest of its keys; its text is sent three times, as an argument and in two keys. */
const BYTES_OF_A_VIEW = 128;
const TEXTS_OF_A_VIEW = 3;

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
 * Cuts a batch into runs that are full calls at most, none of which straddles the published position. Together they cover
 * every offset of the batch, also those without a record.
 */
export function splitRuns<T extends Pick<ReadRecord, 'entry'>>(
  items: readonly T[],
  { from, nextOffset, published, boards }: BatchPosition & { readonly boards: Boards },
): Run<T>[] {
  const runs: Run<T>[] = [];
  let begin = from;
  let open: T[] = [];
  let work = new CallWork(boards, begin < published);
  const closeAt = (end: number) => {
    runs.push({ from: begin, through: end - 1, items: open });
    begin = end;
    open = [];
    work = new CallWork(boards, begin < published);
  };
  for (const item of items) {
    const { offset } = item.entry;
    if (begin < published && published <= offset) closeAt(published);
    if (!work.take(item.entry)) {
      closeAt(offset);
      work.take(item.entry);
    }
    open.push(item);
  }
  if (begin < published && published < nextOffset) closeAt(published);
  closeAt(nextOffset);
  return runs;
}

/** What the entries of a call cost; nobody is told of those of a muted one. */
export class CallWork {
  #entries = 0;
  #updates = 0;
  #bytes = 0;
  #isFull = false;
  /** Views of the entries, by board and view. */
  readonly #views = new Set<string>();

  constructor(
    private readonly boards: Boards,
    private readonly isMuted: boolean,
    private readonly limits = FULL_CALL,
  ) {}

  get isFull(): boolean {
    return this.#isFull || this.entriesLeft <= 0;
  }

  get entriesLeft(): number {
    return this.limits.entries - this.#entries;
  }

  /** Adds an entry that fits, and the first one in any case; answers whether it was added. */
  take(entry: ReadRecord['entry']): boolean {
    const isEvent = entry.kind === 'event';
    const newViews = isEvent ? this.#newViews(entry) : [];
    const updates = this.#updates + (isEvent ? this.#cost(entry, newViews) : 0);
    const bytes = this.#bytes + bytesOf(entry);
    this.#isFull =
      this.isFull ||
      (this.#entries > 0 && (updates > this.limits.viewUpdates || bytes > MOST_BYTES));
    if (this.#isFull) return false;
    this.#entries += 1;
    this.#updates = updates;
    this.#bytes = bytes;
    if (isEvent) for (const { view } of newViews) this.#views.add(`${entry.board} ${view}`);
    return true;
  }

  #newViews({ board, event }: EventEntry): ResolvedView[] {
    return event.views.filter(({ view }) => !this.#views.has(`${board} ${view}`));
  }

  #definition(board: string): BoardDefinition {
    const definition = this.boards.get(board)?.definition;
    if (definition === undefined) throw new Error(`a run has an event of unknown board ${board}`);
    return definition;
  }

  /** In view updates. */
  #cost({ board, event }: EventEntry, newViews: readonly ResolvedView[]): number {
    const { columns, publish } = this.#definition(board);
    const told = (views: readonly ResolvedView[]) =>
      this.isMuted ? 0 : views.filter(({ published }) => published).length;
    const ranked = publish.rankChanges === 'none' ? 0 : told(event.views);
    const updates = event.views.length + (UPDATE_WITH_RANKS - 1) * ranked;
    const named = publish.overtook * ranked + publish.leaders * told(newViews);
    return (
      updates * (1 + FURTHER_COLUMN * (columns.length - 1)) +
      UPDATES_OF_A_VIEW * newViews.length +
      named / NAMES_OF_AN_UPDATE
    );
  }
}

function bytesOf(entry: ReadRecord['entry']): number {
  if (entry.kind === 'none') return 0;
  if (entry.kind === 'deadLetter') return BYTES_OF_AN_ENTRY + Buffer.byteLength(entry.detail);
  const texts = entry.event.views.map(
    ({ view }) => BYTES_OF_A_VIEW + TEXTS_OF_A_VIEW * view.length,
  );
  return texts.reduce((sum, bytes) => sum + bytes, BYTES_OF_AN_ENTRY);
}

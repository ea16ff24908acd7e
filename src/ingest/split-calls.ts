// To add or change a limit: limits that operators choose are settings. FULL_CALL limits a call of a
// script; `npm run bench:apply -- --longest` shows how long a call keeps Redis. LEASE_MS in
// libs/board-store/layout/leases.ts limits a lease, MAX_DECOMPRESSED_BYTES in
// libs/kafka-batch/kafkajs/codecs.ts a batch.

import type { BoardDefinition, ResolvedView } from '#board';
import type { EventEntry, LiveBoard, PlayerEntry } from '#board-store';
import type { ReadRecord } from './read-record.js';

export interface CallLimits {
  readonly entries: number;
  readonly viewUpdates: number;
}

/**
 * Enough entries to be fast, few enough to block Redis for at most about 50 ms. The unit of cost is
 * one update of a one-column view without ranks; `npm run bench:apply -- --longest` measures the
 * other costs.
 */
export const FULL_CALL: CallLimits = { entries: 500, viewUpdates: 2_000 };

/** The limit for the entries of one call. A larger entry gets a call of its own. */
export const MAX_CALL_BYTES = 1_048_576;

/**
 * Cost of an update that looks up ranks before and after; each further column adds a share of the
 * update's cost.
 */
const UPDATE_WITH_RANKS = 2;
const FURTHER_COLUMN = 1 / 8;
/** Cost of reading and storing a view, once per call. */
const UPDATES_OF_A_VIEW = 2;
/** How many named players (overtaken, or in a top N) cost as much as one update. */
const NAMES_OF_AN_UPDATE = 10;

/** The most bytes of an entry, apart from its detail. */
const BYTES_OF_AN_ENTRY = 512;
/**
 * Bytes of a view, once per call, besides its text, which is sent three times: as an argument and
 * in two keys.
 */
const BYTES_OF_A_VIEW = 128;
const TEXTS_OF_A_VIEW = 3;

type Boards = ReadonlyMap<string, Pick<LiveBoard, 'definition'>>;

/** Consecutive offsets of one partition, from `from` to `through`, and the records among them. */
export interface Run<T> {
  readonly from: number;
  readonly through: number;
  readonly items: readonly T[];
}

/** The offsets of a batch, and the published position. */
export interface BatchPosition {
  readonly from: number;
  readonly nextOffset: number;
  readonly published: number;
}

/**
 * Splits a batch into runs, each at most one full call. Together they cover every offset of the
 * batch, also those without a record. No run straddles the published position. Takes the items of a
 * run when the run is asked for.
 */
export function* splitRuns<T extends Pick<ReadRecord, 'entry'>>(
  items: Iterable<T>,
  { from, nextOffset, published, boards }: BatchPosition & { readonly boards: Boards },
): Generator<Run<T>> {
  let begin = from;
  let open: T[] = [];
  let work = new CallWork(boards, begin < published);
  let content = new RunContent();
  const closeAt = (end: number) => {
    const run = { from: begin, through: end - 1, items: open };
    begin = end;
    open = [];
    work = new CallWork(boards, begin < published);
    content = new RunContent();
    return run;
  };
  for (const item of items) {
    const { offset } = item.entry;
    if (begin < published && published <= offset) yield closeAt(published);
    if (!content.take(item.entry) || !work.take(item.entry)) {
      yield closeAt(offset);
      content.take(item.entry);
      work.take(item.entry);
    }
    open.push(item);
  }
  if (begin < published && published < nextOffset) yield closeAt(published);
  yield closeAt(nextOffset);
}

/**
 * One call that settles player records of a run. With `isLast`, all views of its records are
 * settled then.
 */
interface SettlingCall {
  readonly entries: readonly PlayerEntry[];
  readonly isLast: boolean;
}

/**
 * Some records that are settled together end once they have so many views: their results are one
 * reply.
 */
const MAX_SETTLED = 2_000;

/**
 * The calls that settle player records, by the views that each player has: first those for some of
 * the records, up to a last one, then those for the next records. A view of a record costs about as
 * much as two updates with ranks.
 */
export function* settlingCalls(
  records: readonly PlayerEntry[],
  viewsOf: ReadonlyMap<string, readonly ResolvedView[]>,
  { columns, publish }: BoardDefinition,
): Generator<SettlingCall> {
  const updates = 2 * UPDATE_WITH_RANKS + UPDATES_OF_A_VIEW;
  const further = FURTHER_COLUMN * (columns.length - 1);
  const cost = updates * (1 + further) + publish.leaders / NAMES_OF_AN_UPDATE;
  const most = Math.max(1, Math.floor(FULL_CALL.viewUpdates / cost));
  let some: PlayerEntry[] = [];
  let count = 0;
  for (const [index, record] of records.entries()) {
    const views = viewsOf.get(record.playerId) ?? [];
    some.push({ ...record, views });
    count += views.length;
    if (count < MAX_SETTLED && index < records.length - 1) continue;
    yield* pagesOf(some, most);
    some = [];
    count = 0;
  }
}

/** Calls with all of the records, and each with `most` of their views. There is always one. */
function* pagesOf(records: readonly PlayerEntry[], most: number): Generator<SettlingCall> {
  const pending = records.map(({ views = [] }) => [...views]);
  do {
    let room = most;
    const entries = records.map((record, index) => {
      const views = pending[index]?.splice(0, room) ?? [];
      room -= views.length;
      return { ...record, views };
    });
    yield { entries, isLast: pending.every((views) => views.length === 0) };
  } while (pending.some((views) => views.length > 0));
}

/** The most player records of a run: they are looked up together in all views of their board. */
export const MAX_RECORDS = 100;

/**
 * What a run consists of: events and dead letters; or player records of one board, at most one of
 * each player. States: empty, then either kind.
 */
class RunContent {
  #hasEvents = false;
  #board = '';
  readonly #players = new Set<string>();

  /**
   * Adds an entry if the run may have it; an empty run may have any. Returns whether it was added.
   */
  take(entry: ReadRecord['entry']): boolean {
    if (entry.kind === 'none') return true;
    const isRecord = entry.kind === 'player';
    if (isRecord ? this.#hasEvents : this.#players.size > 0) return false;
    if (!isRecord) {
      this.#hasEvents = true;
      return true;
    }
    const { board, playerId } = entry;
    if (this.#players.size > 0 && board !== this.#board) return false;
    if (this.#players.has(playerId) || this.#players.size >= MAX_RECORDS) return false;
    this.#board = board;
    this.#players.add(playerId);
    return true;
  }
}

/** The cost of the entries of a call. A muted call publishes nothing, so it looks up no ranks. */
export class CallWork {
  #entries = 0;
  #updates = 0;
  #bytes = 0;
  #isFull = false;
  /** The cost of one more event, by its list of views: events share lists (see viewsOf). */
  readonly #lists = new Map<readonly ResolvedView[], number>();
  /** Views of the entries, by board and view. */
  readonly #views = new Set<string>();

  constructor(
    private readonly boards: Boards,
    private readonly isMuted: boolean,
    private readonly limits = FULL_CALL,
  ) {}

  get isFull(): boolean {
    return this.#isFull || this.#entries >= this.limits.entries;
  }

  /** Adds an entry if it fits; the first one always does. Returns whether it was added. */
  take(entry: ReadRecord['entry']): boolean {
    if (entry.kind === 'none') return this.#add(0, 0);
    if (entry.kind === 'player')
      return this.#add(1, BYTES_OF_AN_ENTRY + Buffer.byteLength(entry.entry));
    if (entry.kind === 'deadLetter')
      return this.#add(0, BYTES_OF_AN_ENTRY + Buffer.byteLength(entry.detail));
    const known = this.#lists.get(entry.event.views);
    if (known !== undefined) return this.#add(known, BYTES_OF_AN_ENTRY);
    const newViews = this.#newViews(entry);
    const bytes = BYTES_OF_AN_ENTRY + bytesOfViews(newViews);
    if (!this.#add(this.#cost(entry, newViews), bytes)) return false;
    this.#lists.set(entry.event.views, this.#cost(entry, NO_VIEWS));
    for (const name of newViews.keys()) this.#views.add(name);
    return true;
  }

  #add(updates: number, bytes: number): boolean {
    const isTooMuch =
      this.#updates + updates > this.limits.viewUpdates || this.#bytes + bytes > MAX_CALL_BYTES;
    this.#isFull = this.isFull || (this.#entries > 0 && isTooMuch);
    if (this.#isFull) return false;
    this.#entries += 1;
    this.#updates += updates;
    this.#bytes += bytes;
    return true;
  }

  /** The views that no entry has yet, by board and view. */
  #newViews({ board, event }: EventEntry): ReadonlyMap<string, ResolvedView> {
    const views = event.views.map((view) => [`${board} ${view.view}`, view] as const);
    return new Map(views.filter(([name]) => !this.#views.has(name)));
  }

  /** The cost of an event, in view updates. */
  #cost({ board, event }: EventEntry, newViews: ReadonlyMap<string, ResolvedView>): number {
    const definition = this.boards.get(board)?.definition;
    if (definition === undefined) throw new Error(`a run has an event of unknown board ${board}`);
    const { columns, publish } = definition;
    const shown = this.isMuted ? 0 : countPublished(event.views);
    const ranked = publish.rankChanges === 'none' ? 0 : shown;
    const updates = event.views.length + (UPDATE_WITH_RANKS - 1) * ranked;
    const reported = this.isMuted ? 0 : countPublished(newViews.values());
    const named = publish.overtook * ranked + publish.leaders * reported;
    return (
      updates * (1 + FURTHER_COLUMN * (columns.length - 1)) +
      UPDATES_OF_A_VIEW * newViews.size +
      named / NAMES_OF_AN_UPDATE
    );
  }
}

const NO_VIEWS: ReadonlyMap<string, ResolvedView> = new Map();

function countPublished(views: Iterable<ResolvedView>): number {
  return Array.from(views).filter(({ published }) => published).length;
}

function bytesOfViews(views: ReadonlyMap<string, ResolvedView>): number {
  let bytes = 0;
  for (const { view } of views.values()) bytes += BYTES_OF_A_VIEW + TEXTS_OF_A_VIEW * view.length;
  return bytes;
}

// To add or change a limit: limits that operators choose are settings. FULL_CALL limits a call of a
// script; `npm run bench:apply -- --longest` shows how long a call blocks Redis. LEASE_MS in
// libs/board-store/layout/leases.ts limits a lease. MAX_DECOMPRESSED_BYTES in
// libs/kafka-batch/kafkajs/codecs.ts limits a batch.

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

/** Cost of an update that looks up ranks before and after. */
export const UPDATE_WITH_RANKS = 2;
/** Each further column adds this share of the cost of an update. */
const FURTHER_COLUMN = 1 / 8;
/** Cost of reading and storing a view, once per call. */
export const UPDATES_OF_A_VIEW = 2;
/** How many named players (overtaken, or in a top N) cost as much as one update. */
const NAMES_OF_AN_UPDATE = 10;

/** The most bytes of an entry, apart from its detail. */
const BYTES_OF_AN_ENTRY = 512;
/** Bytes of a view, once per call, apart from its text. */
const BYTES_OF_A_VIEW = 128;
/** How often a call has the text of a view: as an argument and in two keys. */
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
 * run only when the caller asks for the run.
 */
export function* splitRuns<T extends Pick<ReadRecord, 'entry'>>(
  items: Iterable<T>,
  { from, nextOffset, published, boards }: BatchPosition & { readonly boards: Boards },
): Generator<Run<T>> {
  const beginAt = (offset: number) =>
    new OpenRun<T>(offset, new CallWork(boards, offset < published));
  let run = beginAt(from);
  for (const item of items) {
    const { offset } = item.entry;
    if (run.from < published && published <= offset) {
      yield run.endAt(published);
      run = beginAt(published);
    }
    if (!run.take(item)) {
      yield run.endAt(offset);
      run = beginAt(offset);
      run.take(item); // an empty run takes any item
    }
  }
  if (run.from < published && published < nextOffset) {
    yield run.endAt(published);
    run = beginAt(published);
  }
  yield run.endAt(nextOffset);
}

/** A run that may take more items. */
class OpenRun<T extends Pick<ReadRecord, 'entry'>> {
  readonly #items: T[] = [];
  readonly #content = new RunContent();

  constructor(
    readonly from: number,
    private readonly work: CallWork,
  ) {}

  /** Adds an item if it fits; the first one always does. Returns whether it was added. */
  take(item: T): boolean {
    const isTaken = this.#content.take(item.entry) && this.work.take(item.entry);
    if (isTaken) this.#items.push(item);
    return isTaken;
  }

  /** The run up to the offset before `end`. */
  endAt(end: number): Run<T> {
    return { from: this.from, through: end - 1, items: this.#items };
  }
}

/** One call that settles player records of a run. */
interface SettlingCall {
  readonly entries: readonly PlayerEntry[];
  /** Whether all views of the entries are settled after this call. */
  readonly isLast: boolean;
}

/**
 * How many views complete a group of records that are settled together. This limits the reply to
 * the last call of a group, which has the results of all its records.
 */
const VIEWS_OF_A_GROUP = 2_000;

/**
 * The calls that settle player records, group by group: the last call of a group has `isLast`.
 * `viewsOf` has the views of each player. A view of a record costs about as much as two updates
 * with ranks.
 */
export function* settlingCalls(
  records: readonly PlayerEntry[],
  viewsOf: ReadonlyMap<string, readonly ResolvedView[]>,
  { columns, publish }: BoardDefinition,
): Generator<SettlingCall> {
  const updates = 2 * UPDATE_WITH_RANKS + UPDATES_OF_A_VIEW;
  const further = FURTHER_COLUMN * (columns.length - 1);
  const costOfAView = updates * (1 + further) + publish.leaders / NAMES_OF_AN_UPDATE;
  const viewsOfACall = Math.max(1, Math.floor(FULL_CALL.viewUpdates / costOfAView));

  let group: PlayerEntry[] = [];
  let viewsOfGroup = 0;
  for (const [index, record] of records.entries()) {
    const views = viewsOf.get(record.playerId) ?? [];
    group.push({ ...record, views });
    viewsOfGroup += views.length;
    const isLast = index === records.length - 1;
    if (viewsOfGroup < VIEWS_OF_A_GROUP && !isLast) continue;

    yield* callsOfGroup(group, viewsOfACall);
    group = [];
    viewsOfGroup = 0;
  }
}

/**
 * Each call has all records of the group, and the next share of their views. Yields at least one.
 */
function* callsOfGroup(
  records: readonly PlayerEntry[],
  viewsOfACall: number,
): Generator<SettlingCall> {
  const pending = records.map(({ views = [] }) => [...views]);
  do {
    let room = viewsOfACall;
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
 * The kind of a run: it has either events and dead letters, or player records of one board, at most
 * one of each player. An empty run has no kind yet.
 */
class RunContent {
  #hasEvents = false;
  #board = '';
  readonly #players = new Set<string>();

  /** Adds an entry if the run may have it. Returns whether it was added. */
  take(entry: ReadRecord['entry']): boolean {
    if (entry.kind === 'none') return true;
    if (entry.kind === 'player') return this.#takeRecord(entry);

    if (this.#players.size > 0) return false;
    this.#hasEvents = true;
    return true;
  }

  #takeRecord({ board, playerId }: PlayerEntry): boolean {
    if (this.#hasEvents) return false;
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
  /** The cost of one more event, by its list of views: events share lists (libs/board/view.ts). */
  readonly #lists = new Map<readonly ResolvedView[], number>();
  /** The views of all entries, each as the names of board and view. */
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

    const knownCost = this.#lists.get(entry.event.views);
    if (knownCost !== undefined) return this.#add(knownCost, BYTES_OF_AN_ENTRY);

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

  /** The views of an event that no earlier entry has, by the names of board and view. */
  #newViews({ board, event }: EventEntry): ReadonlyMap<string, ResolvedView> {
    const views = event.views.map((view) => [`${board} ${view.view}`, view] as const);
    return new Map(views.filter(([name]) => !this.#views.has(name)));
  }

  /** The cost of an event, in view updates. */
  #cost({ board, event }: EventEntry, newViews: ReadonlyMap<string, ResolvedView>): number {
    const definition = this.boards.get(board)?.definition;
    if (definition === undefined) throw new Error(`a run has an event of unknown board ${board}`);

    const { columns, publish } = definition;
    const published = this.isMuted ? 0 : countPublished(event.views);
    const ranked = publish.rankChanges === 'none' ? 0 : published;
    const updates = event.views.length + (UPDATE_WITH_RANKS - 1) * ranked;
    const columnFactor = 1 + FURTHER_COLUMN * (columns.length - 1);

    const newPublished = this.isMuted ? 0 : countPublished(newViews.values());
    const names = publish.overtook * ranked + publish.leaders * newPublished;
    return updates * columnFactor + UPDATES_OF_A_VIEW * newViews.size + names / NAMES_OF_AN_UPDATE;
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

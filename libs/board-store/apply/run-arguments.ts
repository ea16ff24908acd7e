import { canExpire, type BoardDefinition, type ResolvedView } from '#board';
import { recordText } from '../layout/boards.js';
import { ByteWriter } from '../layout/bytes.js';
import type { KeySpace } from '../layout/keys.js';
import { TIE_SIGNS } from '../layout/ties.js';
import type {
  ApplyCall,
  ApplyEntry,
  BoardEntry,
  DeadLetterEntry,
  EventEntry,
  LiveBoard,
  PlayerEntry,
} from '../layout/types.js';
import type { Named } from '../lua/argument-order.js';
import { columnsText } from './verdicts.js';

/** The keys and arguments of lua/commands/apply-7.lua. */
export function applyArguments(keys: KeySpace, call: ApplyCall): Named {
  const { shard, partition } = call;
  const run = runArguments(keys, call);
  return {
    live: keys.live(shard),
    appliedOffsets: keys.appliedOffsets(shard),
    published: keys.published(shard),
    outbox: keys.outbox(shard, partition),
    continuity: keys.continuity(shard),
    recoveryTargets: keys.recoveryTargets(shard),
    records: keys.records(shard),
    runKeys: run.keys,
    partition,
    believedOffset: call.believed,
    publishedPosition: call.published,
    firstOffset: call.from,
    lastOffset: call.through,
    believedContinuity: call.continuity,
    lastRecord: recordText(call.lastRecord),
    believedVersion: call.version,
    run: run.arguments,
  };
}

/** A dead letter has no list of views: it has this number instead. */
const NO_LIST = 0;

/** The entries of the run that is being written. One buffer serves all runs. */
const bytes = new ByteWriter();

/** Entries of one partition, and the generations of their boards. */
type RunOfEntries = Pick<ApplyCall, 'shard' | 'partition' | 'boards' | 'entries' | 'isLast'>;

/** The keys and arguments of a run or stretch, in the order of lua/includes/arguments.lua. */
export function runArguments(
  keys: KeySpace,
  run: RunOfEntries,
): { keys: string[]; arguments: (string | Buffer)[] } {
  const tables = new ArgumentTables(keys, run);
  bytes.clear();
  for (const entry of run.entries) tables.write(entry);

  const { boards, views, lists, columns } = tables;
  return {
    keys: [...tables.boardKeys, ...tables.viewKeys],
    arguments: [
      JSON.stringify({ boards, views, lists, columns, isLast: run.isLast }),
      bytes.copy(),
    ],
  };
}

/**
 * A board of a run, with its number and two maps: views to their numbers, lists of views to theirs.
 */
interface NumberedBoard {
  readonly number: number;
  readonly live: LiveBoard;
  readonly views: Map<string, number>;
  readonly lists: Map<readonly ResolvedView[], number>;
}

/** Numbers the boards, views and lists of views of a run from 1, in order of first use. */
class ArgumentTables {
  readonly boardKeys: string[] = [];
  readonly viewKeys: string[] = [];
  readonly boards: object[] = [];
  readonly views: object[] = [];
  /**
   * Each list has the number of its board, then the numbers of its views. `settles` marks the list
   * of a player record.
   */
  readonly lists: (number[] | { settles: number[] })[] = [];
  readonly #numbered = new Map<string, NumberedBoard>();
  /** How many values each entry has: as many as the event with the most values. */
  readonly columns: number;

  constructor(
    private readonly keys: KeySpace,
    private readonly run: RunOfEntries,
  ) {
    const columns = run.entries.map((entry) =>
      entry.kind === 'event' ? entry.event.values.length : 0,
    );
    this.columns = Math.max(0, ...columns);
  }

  write(entry: ApplyEntry): void {
    bytes.double(entry.offset);
    if (entry.kind === 'deadLetter') this.#writeDeadLetter(entry);
    else if (entry.kind === 'player') this.#writePlayer(entry);
    else this.#writeEvent(entry);
  }

  #writeDeadLetter({ code, detail }: DeadLetterEntry): void {
    bytes.uint16(NO_LIST);
    bytes.double(0);
    bytes.text(code);
    bytes.text(detail);
    this.#writeValues([]);
  }

  #writePlayer(entry: PlayerEntry): void {
    bytes.uint16(this.#addSettled(entry, this.#boardOf(entry)));
    bytes.double(0);
    bytes.text(entry.playerId);
    bytes.text(entry.entry);
    this.#writeValues([]);
  }

  #writeEvent(entry: EventEntry): void {
    const { playerId, occurredAt, values, views, eventId = '' } = entry.event;
    const board = this.#boardOf(entry);
    const deduplicates = board.live.definition.deduplicateMs !== undefined;
    bytes.uint16(board.lists.get(views) ?? this.#addList(views, board));
    bytes.double(occurredAt);
    bytes.text(playerId);
    bytes.text(deduplicates ? eventId : '');
    this.#writeValues(values);
  }

  #writeValues(values: readonly (number | null)[]): void {
    for (let i = 0; i < this.columns; i++) bytes.double(values[i] ?? 0);
  }

  #addList(views: readonly ResolvedView[], board: NumberedBoard): number {
    const numbers = views.map((view) => this.#viewNumber(view, board));
    const number = this.lists.push([board.number, ...numbers]);
    board.lists.set(views, number);
    return number;
  }

  #addSettled({ views = [] }: PlayerEntry, board: NumberedBoard): number {
    const numbers = views.map((view) => this.#viewNumber(view, board));
    return this.lists.push({ settles: [board.number, ...numbers] });
  }

  #boardOf({ board }: BoardEntry): NumberedBoard {
    return this.#numbered.get(board) ?? this.#addBoard(board);
  }

  #addBoard(name: string): NumberedBoard {
    const { keys, run } = this;
    const live = run.boards.get(name);
    if (live === undefined)
      throw new Error(`a call has an event of board "${name}", but no definition of this board`);

    const { generation, definition } = live;
    this.boards.push({ name, generation, ...settings(definition) });
    const board = { number: this.boards.length, live, views: new Map(), lists: new Map() };
    this.#numbered.set(name, board);
    this.boardKeys.push(
      keys.views(run.shard, generation),
      keys.facts(run.shard, generation),
      keys.expiries(run.shard, generation),
      keys.eventIds(run.shard, generation, run.partition),
      keys.leaders(run.shard, name),
      keys.bans(run.shard, generation),
    );
    return board;
  }

  #viewNumber({ view, expiresAt, published }: ResolvedView, board: NumberedBoard): number {
    const known = board.views.get(view);
    if (known !== undefined) return known;

    this.viewKeys.push(...this.keys.ofView(this.run.shard, board.live.generation, view));
    const expires = expiresAt ?? undefined;
    const number = this.views.push({ board: board.number, text: view, expires, published });
    board.views.set(view, number);
    return number;
  }
}

function settings(definition: BoardDefinition) {
  const { columns, ties, publish, maxViews } = definition;
  return {
    updates: columns.map(({ update }) => update),
    tie: TIE_SIGNS[ties],
    columns: columnsText(columns),
    changes: publish.rankChanges,
    overtook: publish.overtook,
    leaders: publish.leaders,
    maxViews,
    refusesLate: definition.late === 'deadLetter',
    canExpire: canExpire(definition),
    span: definition.deduplicateMs,
    competition: publish.ranks.includes('competition'),
  };
}

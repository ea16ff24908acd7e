import { canExpire, type BoardDefinition, type ResolvedView } from '#board';
import { BUILDING } from './boards.js';
import type { KeySpace } from './keys.js';
import type { ApplyCall, ApplyEntry, LiveBoard, RecordIdentity } from './types.js';
import { columnsText } from './verdict-text.js';

const UPDATE_LETTERS = { sum: 's', best: 'b', latest: 'l' } as const;
const RANK_CHANGE_LETTERS = { every: 'e', moved: 'm', none: 'n' } as const;

/** The tie rule as the scripts take it. */
export const TIE_SIGNS = { earliest: 1, latest: -1, none: 0 } as const;

/** An apply call as keys and arguments of lua/apply.lua, whose header gives the order. */
export function applyArguments(keys: KeySpace, call: ApplyCall): [number, ...(string | number)[]] {
  const { building = [] } = call;
  const tables = new ArgumentTables(keys, call);
  const entries = call.entries.flatMap((entry) => tables.entry(entry));
  const allKeys = [
    keys.live(call.shard),
    keys.watermarks(call.shard),
    keys.published(call.shard),
    keys.outbox(call.shard, call.partition),
    keys.continuity(call.shard),
    keys.healing(call.shard),
    keys.records(call.shard),
    ...tables.boardKeys,
    ...tables.viewKeys,
  ];
  return [
    allKeys.length,
    ...allKeys,
    call.partition,
    call.believed,
    call.published,
    call.through,
    call.boards.size + building.length,
    tables.boardKeys.length / 5,
    tables.viewKeys.length / 2,
    call.entries.length,
    call.continuity,
    identityText(call.lastRecord),
    ...[...call.boards.values()].flatMap(({ board, generation }) => [board, generation]),
    ...building.flatMap((board) => [board, BUILDING]),
    ...tables.boardArguments,
    ...tables.viewArguments,
    ...entries,
  ];
}

function identityText(record: RecordIdentity | undefined): string {
  return record === undefined ? '' : `${record.offset} ${record.timestamp} ${record.hash}`;
}

/** A board that entries of a call are about: its number, and those of its views that were met. */
interface NumberedBoard {
  readonly number: number;
  readonly live: LiveBoard;
  readonly views: Map<string, number>;
}

/** The boards and views of one call as they are first met, each numbered from 1. */
class ArgumentTables {
  readonly boardKeys: string[] = [];
  readonly boardArguments: (string | number)[] = [];
  readonly viewKeys: string[] = [];
  readonly viewArguments: (string | number)[] = [];
  /** The number of each live board of the call. */
  readonly #live: ReadonlyMap<string, number>;
  readonly #boards = new Map<string, NumberedBoard>();
  #views = 0;

  constructor(
    private readonly keys: KeySpace,
    private readonly call: ApplyCall,
  ) {
    this.#live = new Map([...call.boards.keys()].map((board, index) => [board, index + 1]));
  }

  entry(entry: ApplyEntry): (string | number)[] {
    if (entry.kind === 'deadLetter') return [entry.offset, 0, entry.code, entry.detail, '', ''];
    const board = this.#boards.get(entry.board) ?? this.#addBoard(entry.board);
    const { playerId, occurredAt, values, views, eventId = '' } = entry.event;
    const numbers = views.map((view) => this.#viewNumber(view, board)).join(' ');
    const deduplicates = board.live.definition.deduplicateMs !== undefined;
    return [
      entry.offset,
      board.number,
      playerId,
      occurredAt,
      values.map((value) => value ?? '.').join(' '),
      deduplicates ? `${numbers}\n${eventId}` : numbers,
    ];
  }

  #addBoard(name: string): NumberedBoard {
    const { keys, call } = this;
    const live = call.boards.get(name);
    const liveNumber = this.#live.get(name);
    if (live === undefined || liveNumber === undefined)
      throw new Error(`apply call with an event of board ${name}, which it does not list`);
    const board = { number: this.#boards.size + 1, live, views: new Map<string, number>() };
    this.#boards.set(name, board);
    this.boardKeys.push(
      keys.views(call.shard, live.generation),
      keys.facts(call.shard, live.generation),
      keys.expiries(call.shard, live.generation),
      keys.eventIds(call.shard, live.generation, call.partition),
      keys.leaders(call.shard, name),
    );
    this.boardArguments.push(liveNumber, ...settings(live.definition));
    return board;
  }

  #viewNumber({ view, expiresAt, published }: ResolvedView, board: NumberedBoard): number {
    const known = board.views.get(view);
    if (known !== undefined) return known;
    const number = ++this.#views;
    const { generation } = board.live;
    board.views.set(view, number);
    this.viewKeys.push(
      this.keys.ranking(this.call.shard, generation, view),
      this.keys.players(this.call.shard, generation, view),
    );
    this.viewArguments.push(board.number, view, expiresAt ?? '-', flag(published));
    return number;
  }
}

/** What the script has to know of a definition. */
function settings(definition: BoardDefinition): (string | number)[] {
  const { columns, ties, publish } = definition;
  return [
    columns.map(({ update }) => UPDATE_LETTERS[update]).join(''),
    TIE_SIGNS[ties],
    columnsText(columns),
    RANK_CHANGE_LETTERS[publish.rankChanges],
    publish.overtook,
    publish.leaders,
    definition.maxViews,
    flag(definition.late === 'deadLetter'),
    flag(canExpire(definition)),
    definition.deduplicateMs ?? '-',
  ];
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

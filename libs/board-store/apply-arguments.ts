import type { KeySpace } from './keys.js';
import type { ApplyCall, ApplyEntry, LiveBoard } from './types.js';
import { columnsText } from './verdict-text.js';

const UPDATE_LETTERS = { sum: 's', best: 'b', latest: 'l' } as const;

/** The tie rule as the scripts take it. */
export const TIE_SIGNS = { earliest: 1, latest: -1, none: 0 } as const;

/** An apply call as keys and arguments of lua/apply.lua, whose header gives the order. */
export function applyArguments(keys: KeySpace, call: ApplyCall): [number, ...(string | number)[]] {
  const tables = new ArgumentTables(keys, call);
  const entries = call.entries.flatMap((entry) => tables.entry(entry));
  const allKeys = [
    keys.live(call.shard),
    keys.watermarks(call.shard),
    keys.published(call.shard),
    keys.outbox(call.shard, call.partition),
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
    tables.boardKeys.length,
    tables.viewKeys.length / 2,
    call.entries.length,
    ...tables.boardArguments,
    ...tables.viewArguments,
    ...entries,
  ];
}

/** A board of a call: its number, and those of its views that were met. */
interface NumberedBoard {
  readonly number: number;
  readonly live: LiveBoard;
  readonly views: Map<string, number>;
}

/** The boards of one call, and the views as they are first met; each numbered from 1. */
class ArgumentTables {
  readonly boardKeys: string[] = [];
  readonly boardArguments: (string | number)[] = [];
  readonly viewKeys: string[] = [];
  readonly viewArguments: (string | number)[] = [];
  readonly #boards = new Map<string, NumberedBoard>();
  #views = 0;

  constructor(
    private readonly keys: KeySpace,
    private readonly call: ApplyCall,
  ) {
    for (const live of call.boards.values()) this.#addBoard(live);
  }

  entry(entry: ApplyEntry): (string | number)[] {
    if (entry.kind === 'deadLetter') return [entry.offset, 0, entry.code, entry.detail, '', ''];
    const board = this.#boards.get(entry.board);
    if (board === undefined)
      throw new Error(`apply call with an event of board ${entry.board}, which it does not list`);
    const { playerId, occurredAt, values, views } = entry.event;
    return [
      entry.offset,
      board.number,
      playerId,
      occurredAt,
      values.map((value) => value ?? '.').join(' '),
      views.map((view) => this.#viewNumber(view, board)).join(' '),
    ];
  }

  #addBoard(live: LiveBoard): void {
    this.#boards.set(live.board, { number: this.#boards.size + 1, live, views: new Map() });
    const { columns, ties } = live.definition;
    this.boardKeys.push(this.keys.views(this.call.shard, live.generation));
    this.boardArguments.push(
      live.board,
      live.generation,
      columns.map(({ update }) => UPDATE_LETTERS[update]).join(''),
      TIE_SIGNS[ties],
      columnsText(columns),
    );
  }

  #viewNumber(view: string, { number: board, live, views }: NumberedBoard): number {
    const known = views.get(view);
    if (known !== undefined) return known;
    const number = ++this.#views;
    views.set(view, number);
    this.viewKeys.push(
      this.keys.ranking(this.call.shard, live.generation, view),
      this.keys.players(this.call.shard, live.generation, view),
    );
    this.viewArguments.push(board, view);
    return number;
  }
}

import type { ResolvedEvent } from '#board';
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

/** The boards and views of one call, each numbered from 1 as it is first met. */
class ArgumentTables {
  readonly boardKeys: string[] = [];
  readonly boardArguments: (string | number)[] = [];
  readonly viewKeys: string[] = [];
  readonly viewArguments: (string | number)[] = [];
  readonly #boards = new Map<string, { number: number; views: Map<string, number> }>();
  #views = 0;

  constructor(
    private readonly keys: KeySpace,
    private readonly call: ApplyCall,
  ) {}

  entry(entry: ApplyEntry): (string | number)[] {
    if (entry.kind === 'deadLetter') return [entry.offset, 0, entry.code, entry.detail, '', ''];
    const live = this.call.boards.get(entry.board);
    if (live === undefined)
      throw new Error(`apply call with an event of board ${entry.board}, which it does not list`);
    const board = this.#board(live);
    return [entry.offset, board.number, ...this.#event(entry.event, live, board)];
  }

  #event(
    event: ResolvedEvent,
    live: LiveBoard,
    board: { number: number; views: Map<string, number> },
  ) {
    const views = event.views.map((view) => this.#view(view, live, board));
    const values = event.values.map((value) => value ?? '.');
    return [event.playerId, event.occurredAt, values.join(' '), views.join(' ')];
  }

  #board(live: LiveBoard) {
    let board = this.#boards.get(live.board);
    if (board === undefined) {
      board = { number: this.#boards.size + 1, views: new Map() };
      this.#boards.set(live.board, board);
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
    return board;
  }

  #view(
    view: string,
    live: LiveBoard,
    board: { number: number; views: Map<string, number> },
  ): number {
    let number = board.views.get(view);
    if (number === undefined) {
      number = ++this.#views;
      board.views.set(view, number);
      const { shard } = this.call;
      this.viewKeys.push(
        this.keys.ranking(shard, live.generation, view),
        this.keys.players(shard, live.generation, view),
      );
      this.viewArguments.push(board.number, view);
    }
    return number;
  }
}

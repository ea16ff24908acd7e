import { canExpire, type BoardDefinition, type ResolvedView } from '#board';
import { recordText } from './boards.js';
import type { KeySpace } from './keys.js';
import type { ApplyCall, ApplyEntry, LiveBoard } from './types.js';
import { columnsText } from './verdict-text.js';

const UPDATE_LETTERS = { sum: 's', best: 'b', latest: 'l' } as const;
const RANK_CHANGE_LETTERS = { every: 'e', moved: 'm', none: 'n' } as const;

export const TIE_SIGNS = { earliest: 1, latest: -1, none: 0 } as const;

/** An apply call as keys and arguments: the header of lua/commands/apply-7.lua gives the order. */
export function applyArguments(keys: KeySpace, call: ApplyCall): [number, ...(string | number)[]] {
  const { shard, partition } = call;
  const run = runArguments(keys, call);
  const allKeys = [
    keys.live(shard),
    keys.appliedOffsets(shard),
    keys.published(shard),
    keys.outbox(shard, partition),
    keys.continuity(shard),
    keys.recoveryTargets(shard),
    keys.records(shard),
    ...run.keys,
  ];
  return [
    allKeys.length,
    ...allKeys,
    partition,
    call.believed,
    call.published,
    call.from,
    call.through,
    call.continuity,
    recordText(call.lastRecord),
    call.version,
    ...run.arguments,
  ];
}

/** Entries of one partition, and the generations of their boards. */
type RunOfEntries = Pick<ApplyCall, 'shard' | 'partition' | 'boards' | 'entries'>;

/** A run or stretch as keys and arguments: the header of lua/includes/arguments.lua gives the order. */
export function runArguments(
  keys: KeySpace,
  run: RunOfEntries,
): { keys: string[]; arguments: (string | number)[] } {
  const tables = new ArgumentTables(keys, run);
  const entries = run.entries.map((entry) => tables.entry(entry));
  return {
    keys: [...tables.boardKeys, ...tables.viewKeys],
    arguments: [
      tables.boardKeys.length / 5,
      tables.viewKeys.length / 2,
      run.entries.length,
      ...tables.boardArguments,
      ...tables.viewArguments,
      ...entries,
    ],
  };
}

/** The number of a board within a run, and the numbers of its views. */
interface NumberedBoard {
  readonly number: number;
  readonly live: LiveBoard;
  readonly views: Map<string, number>;
}

/** The boards and the views of one run or stretch, each numbered from 1 in order of first use. */
class ArgumentTables {
  readonly boardKeys: string[] = [];
  readonly boardArguments: (string | number)[] = [];
  readonly viewKeys: string[] = [];
  readonly viewArguments: (string | number)[] = [];
  readonly #boards = new Map<string, NumberedBoard>();
  #views = 0;

  constructor(
    private readonly keys: KeySpace,
    private readonly run: RunOfEntries,
  ) {}

  /** An entry as one argument with all fields: a second argument would cost about as much as this whole text. */
  entry(entry: ApplyEntry): string {
    if (entry.kind === 'deadLetter')
      return `${entry.offset}\n0\n${entry.code}\n\n\n\n${entry.detail}`;
    const board = this.#boards.get(entry.board) ?? this.#addBoard(entry.board);
    const { playerId, occurredAt, values, views, eventId = '' } = entry.event;
    const numbers = views.map((view) => this.#viewNumber(view, board)).join(' ');
    const valuesText = values.map((value) => value ?? '.').join(' ');
    const text = `${entry.offset}\n${board.number}\n${playerId}\n${occurredAt}\n${valuesText}\n${numbers}`;
    const deduplicates = board.live.definition.deduplicateMs !== undefined;
    return deduplicates ? `${text}\n${eventId}` : text;
  }

  #addBoard(name: string): NumberedBoard {
    const { keys, run } = this;
    const live = run.boards.get(name);
    if (live === undefined)
      throw new Error(`a call has an event of board "${name}", but no definition of this board`);
    const board = { number: this.#boards.size + 1, live, views: new Map<string, number>() };
    this.#boards.set(name, board);
    this.boardKeys.push(
      keys.views(run.shard, live.generation),
      keys.facts(run.shard, live.generation),
      keys.expiries(run.shard, live.generation),
      keys.eventIds(run.shard, live.generation, run.partition),
      keys.leaders(run.shard, name),
    );
    this.boardArguments.push(name, live.generation, ...settings(live.definition));
    return board;
  }

  #viewNumber({ view, expiresAt, published }: ResolvedView, board: NumberedBoard): number {
    const known = board.views.get(view);
    if (known !== undefined) return known;
    const number = ++this.#views;
    const { generation } = board.live;
    board.views.set(view, number);
    this.viewKeys.push(
      this.keys.ranking(this.run.shard, generation, view),
      this.keys.players(this.run.shard, generation, view),
    );
    this.viewArguments.push(board.number, view, expiresAt ?? '-', flag(published));
    return number;
  }
}

/** The parts of a definition that the scripts need. */
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
    flag(publish.ranks.includes('competition')),
  ];
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

import { definitionText, readStates, type BoardDefinition } from '#board';
import { banText, KeySpace } from '#board-store';
import type { DecodedPlayerRecord } from '#contracts';
import { MemoryView, nextVersion, statesOf, type MemoryPlayer } from './memory-view.js';

type Words = (string | number)[];

/** The arguments of the scripts that read, by the names in their headers. */
interface Named {
  readonly board: string;
  readonly believedGeneration: string;
  readonly ranking: string;
  readonly columnCount: number;
  readonly cursor: string;
  readonly mostCounted: number;
  readonly bestValue: string;
  readonly worstValue: string;
  readonly pageSize: number;
  readonly anchor: 'position' | 'share' | 'player' | 'behind' | 'columns';
  readonly anchored: readonly (string | number | Buffer)[];
  readonly ids: readonly string[];
  readonly bucketCount: number;
  readonly pattern: string;
}

/** Any prefix works: the reader of the tests has the same prefix. */
export const PREFIX = 'ranklog';

const SERVER = 'memory';
const NO_VERSION = '0';
/** Records of a test are applied at once. */
const ALL_APPLIED = String(Number.MAX_SAFE_INTEGER);
const keys = new KeySpace(PREFIX);

/**
 * Replaces an ioredis client: answers the commands of a BoardReader from standings in memory.
 * Answers each script as its file in libs/board-store/lua/commands does. A board has one
 * generation, named like the board.
 */
export class MemoryRedis {
  readonly #definitions: ReadonlyMap<string, BoardDefinition>;
  /** By board and name of the view. */
  readonly #views = new Map<string, Map<string, MemoryView>>();
  /** By key, the ban register of a board. */
  readonly #bans = new Map<string, Map<string, string>>();
  /** By the key of the ranking. */
  readonly #rankings = new Map<string, MemoryView>();

  constructor(definitions: readonly BoardDefinition[]) {
    this.#definitions = new Map(definitions.map((definition) => [definition.board, definition]));
  }

  /** Applies a player record like ranklog: nothing changes an erasure. */
  setBan(record: DecodedPlayerRecord, offset: number): void {
    const { board, playerId } = record;
    const key = keys.bans(0, board);
    const bans = this.#bans.get(key) ?? new Map<string, string>();
    this.#bans.set(key, bans);
    const isErased = bans.get(playerId)?.startsWith('erased ') === true;
    if (!isErased) bans.set(playerId, banText(record, { partition: 0, offset }));
  }

  setView(definition: BoardDefinition, view: string, players: readonly MemoryPlayer[]): void {
    const { board } = definition;
    const views = this.#views.get(board) ?? new Map<string, MemoryView>();
    const made = new MemoryView(definition, players, nextVersion());
    this.#views.set(board, views.set(view, made));
    this.#rankings.set(keys.ranking(0, board, view), made);
  }

  // A BoardReader checks by these names that the scripts are defined.
  readonly ranklogPage = true;
  readonly ranklogPlayers = true;
  readonly ranklogHistogram = true;
  readonly ranklogSearch = true;

  ranklogPageBuffer(named: Named): Promise<Buffer[]> {
    return this.#read(named, (view) => pageOf(view, named));
  }

  ranklogPlayersBuffer(named: Named): Promise<Buffer[]> {
    return this.#read(named, (view) => {
      const found = named.ids.flatMap((id) => view.player(id) ?? []);
      return reply([...headOf(view), ...placesOf(view, found)], found);
    });
  }

  ranklogHistogramBuffer(named: Named): Promise<Buffer[]> {
    return this.#read(named, (view) => reply([...headOf(view), ...bucketsOf(view, named)], []));
  }

  ranklogSearchBuffer(named: Named): Promise<Buffer[]> {
    return this.#read(named, (view) => {
      const found = view.matching(regExpOf(named.pattern));
      return reply([SERVER, '0', ...headOf(view), ...placesOf(view, found)], found);
    });
  }

  ranklogViews({ board, believedGeneration }: Named): Promise<string[]> {
    if (believedGeneration !== board) return Promise.resolve(this.#moved(board));
    const views = [...(this.#views.get(board) ?? [])];
    const rows = views.flatMap(([name, { version }]) => [name, String(version), '']);
    return Promise.resolve(['0', SERVER, '0', '', '', ...rows]);
  }

  zcard(key: string): Promise<number> {
    return Promise.resolve(this.#rankings.get(key)?.size ?? 0);
  }

  hgetall(key: string): Promise<Record<string, string>> {
    return Promise.resolve(key === keys.appliedOffsets(0) ? { 0: ALL_APPLIED } : {});
  }

  /** The version of the boards, which never change, or the ban of a player. */
  hget(key: string, field: string): Promise<string | null> {
    const ban = this.#bans.get(key)?.get(field) ?? null;
    return Promise.resolve(key === keys.live(0) ? NO_VERSION : ban);
  }

  get(): Promise<null> {
    return Promise.resolve(null);
  }

  smembers(): Promise<string[]> {
    return Promise.resolve([]);
  }

  hscan(key: string): Promise<[string, string[]]> {
    return Promise.resolve(['0', [...this.#hash(key)].flat()]);
  }

  hlen(key: string): Promise<number> {
    return Promise.resolve([...this.#hash(key)].length);
  }

  /** The hashes with an entry for each board, or for each banned player. */
  #hash(key: string): Iterable<[string, string]> {
    const boards = [...this.#definitions];
    if (key === keys.live(0)) return boards.map(([board]) => [board, board]);
    if (key === keys.definitions(0))
      return boards.map(([board, definition]) => [board, definitionText(definition)]);
    return this.#bans.get(key) ?? [];
  }

  info(): Promise<string> {
    return Promise.resolve('role:master');
  }

  #read(named: Named, answer: (view: MemoryView) => Buffer[]): Promise<Buffer[]> {
    const { board, believedGeneration, ranking } = named;
    const definition = this.#definitions.get(board);
    if (definition === undefined || believedGeneration !== board)
      return Promise.resolve(this.#moved(board).map((word) => Buffer.from(word)));
    return Promise.resolve(
      answer(this.#rankings.get(ranking) ?? new MemoryView(definition, [], 0)),
    );
  }

  #moved(board: string): string[] {
    const definition = this.#definitions.get(board);
    if (definition === undefined) return ['MOVED', '', '', ''];
    return ['MOVED', board, definitionText(definition), ''];
  }
}

function headOf(view: MemoryView): Words {
  return [0, view.version, view.size];
}

function reply(words: Words, players: readonly MemoryPlayer[]): Buffer[] {
  return [Buffer.from(words.join('\n')), statesOf(players)];
}

/** Like lua/includes/players.lua. */
function placesOf(view: MemoryView, players: readonly MemoryPlayer[]): Words {
  return players.flatMap(({ playerId, state }) => [
    playerId,
    view.positionOf(playerId),
    view.countBetter(state),
    view.countWorse(state),
  ]);
}

/** Like lua/commands/page-10.lua. */
function pageOf(view: MemoryView, named: Named): Buffer[] {
  const { bestValue, worstValue, pageSize, mostCounted } = named;
  const from = bestValue === '' ? 0 : view.countUpTo(Number(bestValue) - 1);
  const end = worstValue === '' ? view.size : view.countUpTo(Number(worstValue));
  const anchored = firstPosition(view, named, from);
  if (anchored === undefined) return reply([...headOf(view), 0, 0, '', 0, 0, 0], []);

  const first = Math.max(from, anchored);
  const players = view.slice(first, Math.max(0, Math.min(pageSize, end - first)));
  const top = players[0];
  const last = players.at(-1);
  const better = top === undefined ? 0 : view.countBetter(top.state);
  const counts = top !== undefined && mostCounted > 0;
  const differentBetter = counts ? view.countDifferentBetter(top.state) : '';
  const worse = last === undefined ? 0 : view.countWorse(last.state);

  const place = [first, better, differentBetter, worse, from, Math.max(from, end)];
  const ids = players.map(({ playerId }) => playerId);
  return reply([...headOf(view), ...place, ...ids], players);
}

/** Where a page begins, among the players from position `from` on; undefined for no page. */
function firstPosition(view: MemoryView, named: Named, from: number): number | undefined {
  const { anchor, anchored, pageSize, columnCount } = named;
  const [word, next] = anchored;
  const stateIn = (bytes: unknown) => readStates(bytes as Buffer, columnCount)[0] ?? [];
  switch (anchor) {
    case 'position':
      return from + Number(word);
    case 'share':
      return Math.max(0, Math.ceil((Number(word) * view.size) / 1_000_000) - 1);
    case 'player': {
      const position = view.positionOf(String(word));
      if (position < 0) return undefined;
      return Math.max(0, Math.min(position - Number(next), view.size - pageSize));
    }
    case 'behind':
      return view.countUpToPlayer({ playerId: String(word), state: stateIn(next) });
    case 'columns':
      return view.countBetter(stateIn(word));
  }
}

/** Like lua/commands/histogram-10.lua. */
function bucketsOf(view: MemoryView, { bestValue, worstValue, bucketCount }: Named): Words {
  if (view.size === 0) return [];
  let best = bestValue === '' ? view.firstValueAt(0) : Number(bestValue);
  const worst = worstValue === '' ? view.firstValueAt(-1) : Number(worstValue);
  const width = Math.floor((worst - best) / bucketCount) + 1;
  const words: Words = [];
  for (let bucket = 1; bucket <= bucketCount && best <= worst; bucket++) {
    const last = bucket === bucketCount ? worst : Math.min(best + width - 1, worst);
    words.push(best, last, view.countUpTo(last) - view.countUpTo(best - 1));
    best = last + 1;
  }
  return words;
}

/** The same pattern as a regular expression. A reader's patterns have `*` only at both ends. */
function regExpOf(pattern: string): RegExp {
  return new RegExp(pattern.slice(1, -1).replaceAll(/[.+(){}|$]/g, String.raw`\$&`));
}

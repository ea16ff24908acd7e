import type { Redis } from 'ioredis';
import { decimalColumns, parseState, reachTime, type BoardDefinition } from '#board';
import { TIE_SIGNS } from './apply-arguments.js';
import { readLiveBoards } from './board-store.js';
import { UnknownBoardError, UnknownViewError } from './errors.js';
import type { KeySpace } from './keys.js';
import { defineScripts } from './scripts.js';
import { shardOf } from './shard.js';
import type { LiveBoard, Placing } from './types.js';

const REACH_TIME_WIDTH = { earliest: 7, latest: 7, none: 0 } as const;

/** A player's place in a view; `reachedAt` in ms. */
export interface Standing extends Placing {
  readonly playerId: string;
  readonly reachedAt: number;
}
export interface Standings {
  readonly board: string;
  readonly view: string;
  readonly version: number;
  readonly size: number;
  readonly entries: readonly Standing[];
}
export interface ViewSummary {
  readonly view: string;
  readonly size: number;
  readonly version: number;
}

/** Reads boards. Each method follows the pointer to the live generation first, then reads in one atomic step. */
export class BoardReader {
  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
  ) {
    defineScripts(redis);
  }

  /** All live boards, by name. */
  async liveBoards(): Promise<LiveBoard[]> {
    const boards = await readLiveBoards(this.redis, this.keys, await this.#shards());
    return [...boards.values()].sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** The views that hold players, by their text. @throws UnknownBoardError */
  async views(board: string): Promise<ViewSummary[]> {
    const { shard, live } = await this.#locate(board);
    const versions = await this.redis.hgetall(this.keys.views(shard, live.generation));
    const views = Object.keys(versions).sort();
    const sizes = await Promise.all(
      views.map((view) => this.redis.zcard(this.keys.ranking(shard, live.generation, view))),
    );
    return views.map((view, index) => ({
      view,
      size: sizes[index] ?? 0,
      version: Number(versions[view]),
    }));
  }

  /** Players of a view in order, `limit` from position `offset` (from 0). @throws UnknownBoardError, UnknownViewError */
  async standings(
    board: string,
    view: string,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<Standings> {
    const { shard, live } = await this.#locate(board);
    const { columns, ties } = live.definition;
    const [version, size, firstCompetition, ...players] = await this.redis.ranklogPage(
      3,
      this.keys.views(shard, live.generation),
      this.keys.ranking(shard, live.generation, view),
      this.keys.players(shard, live.generation, view),
      view,
      offset,
      limit,
      columns.length,
      REACH_TIME_WIDTH[ties],
    );
    if (Number(size) === 0) await this.#refuseUnknownView(board, view);
    return {
      board,
      view,
      version: Number(version),
      size: Number(size),
      entries: rankPage(live.definition, players, offset, Number(firstCompetition)),
    };
  }

  /** A player's place, undefined for one who is not in the view. @throws UnknownBoardError, UnknownViewError */
  async rank(board: string, view: string, playerId: string): Promise<Standing | undefined> {
    const { shard, live } = await this.#locate(board);
    const { columns, ties } = live.definition;
    const ranking = this.keys.ranking(shard, live.generation, view);
    const reply = await this.redis.ranklogRank(
      2,
      ranking,
      this.keys.players(shard, live.generation, view),
      playerId,
      TIE_SIGNS[ties],
      columns.length,
    );
    if (reply !== null) {
      const [position, competition, state = ''] = reply;
      return standing(live.definition, { playerId, state }, Number(position), Number(competition));
    }
    if ((await this.redis.exists(ranking)) === 0) await this.#refuseUnknownView(board, view);
    return undefined;
  }

  /** For each partition, the first offset that is not applied in every shard. */
  async appliedOffsets(): Promise<Map<number, number>> {
    const shards = Array.from({ length: await this.#shards() }, (_, shard) => shard);
    const watermarks = await Promise.all(
      shards.map((shard) => this.redis.hgetall(this.keys.watermarks(shard))),
    );
    const partitions = new Set(watermarks.flatMap((shard) => Object.keys(shard)));
    return new Map(
      [...partitions].map((partition) => [
        Number(partition),
        Math.min(...watermarks.map((shard) => Number(shard[partition] ?? -1))) + 1,
      ]),
    );
  }

  async #shards(): Promise<number> {
    return Number((await this.redis.get(this.keys.shards())) ?? 1);
  }

  async #locate(board: string): Promise<{ shard: number; live: LiveBoard }> {
    const shards = await this.#shards();
    const boards = await readLiveBoards(this.redis, this.keys, shards);
    const live = boards.get(board);
    if (live === undefined) throw new UnknownBoardError(board, [...boards.keys()].sort());
    return { shard: shardOf(board, shards), live };
  }

  async #refuseUnknownView(board: string, view: string): Promise<void> {
    const views = await this.views(board);
    if (!views.some((known) => known.view === view && known.size > 0))
      throw new UnknownViewError(
        board,
        view,
        views.map((known) => known.view),
      );
  }
}

/** Places of a page from its players in order: player id, state, ... */
function rankPage(
  definition: BoardDefinition,
  players: readonly string[],
  offset: number,
  firstCompetition: number,
): Standing[] {
  const entries: Standing[] = [];
  let competition = firstCompetition;
  for (let index = 0; index < players.length; index += 2) {
    const position = offset + index / 2;
    const state = players[index + 1] ?? '';
    if (index > 0 && values(state) !== values(players[index - 1] ?? '')) competition = position;
    entries.push(
      standing(definition, { playerId: players[index] ?? '', state }, position, competition),
    );
  }
  return entries;
}

/** The columns' values of a state, as one text. */
function values(state: string): string {
  return parseState(state)
    .map(({ value }) => value)
    .join(' ');
}

function standing(
  definition: BoardDefinition,
  player: { playerId: string; state: string },
  position: number,
  competition: number,
): Standing {
  const state = parseState(player.state);
  return {
    playerId: player.playerId,
    rank: position + 1,
    competitionRank: competition + 1,
    columns: decimalColumns(
      definition,
      state.map(({ value }) => value),
    ),
    reachedAt: reachTime(state),
  };
}

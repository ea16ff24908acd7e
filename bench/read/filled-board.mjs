// @ts-check
import { parseBoardsFile } from '#board';
import { BoardReader } from '#board-store';
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { ranklog } from '../apply/contenders.mjs';

export const BOARDS = 'boards: { bench: { columns: [{ name: points }] } }';
/** Scores are from 1 to this, however many players there are. */
export const MOST_POINTS = 1_000_000;
const BATCH = 500;
const T0 = Date.parse('2026-01-01T00:00:00Z');
const REWRITE = 'auto-aof-rewrite-percentage';

/** The board `bench` and a plain ZSET, with the same players and scores. */
export class FilledBoard {
  players = 0;

  /**
   * @param {import('ioredis').Redis} redis @param {import('../apply/contenders.mjs').Contender}
   * board
   */
  constructor(redis, board) {
    this.redis = redis;
    this.board = board;
    this.prefix = board.prefix;
    this.zset = `${board.prefix}:0`;
    this.reader = new BoardReader({ redis, prefix: board.prefix });
  }

  /** @param {import('ioredis').Redis} redis */
  static async open(redis) {
    const [definition] = parseBoardsFile(BOARDS, 'bench');
    if (definition === undefined) throw new Error('the bench has no board');
    return new FilledBoard(redis, await ranklog(redis, definition));
  }

  /** Adds players with random scores until there are so many. @param {number} players */
  async grow(players) {
    for (; this.players < players; this.players = Math.min(players, this.players + BATCH)) {
      const from = this.players;
      const scores = Array.from({ length: Math.min(BATCH, players - from) }, (_, index) => ({
        player: `player-${from + index}`,
        delta: 1 + Math.floor(Math.random() * MOST_POINTS),
        time: T0 + from + index,
      }));
      await Promise.all([
        this.board.apply(scores, { muted: true }),
        this.redis.zadd(this.zset, ...scores.flatMap(({ player, delta }) => [delta, player])),
      ]);
    }
  }

  async remove() {
    await this.redis.unlink(...(await this.redis.keys(`${this.prefix}:*`)));
  }
}

/**
 * Redis does not rewrite its append-only file during the work: that would take CPU time from
 * whatever is measured.
 * @template T
 * @param {import('ioredis').Redis} redis @param {() => Promise<T>} work
 */
export async function withoutRewrites(redis, work) {
  const [, rewrites = ''] = /** @type {string[]} */ (await redis.config('GET', REWRITE));
  await redis.config('SET', REWRITE, '0');
  return withCleanUp(work, () => redis.config('SET', REWRITE, rewrites));
}

// @ts-check
import { withCleanUp } from '../../scripts/clean-up.mjs';
import { FilledBoard } from './filled-board.mjs';
import { compare, cpuOf } from './measure.mjs';

/** What a player takes in Redis, on the board and in the plain ZSET, with some room. */
const BYTES_PER_PLAYER = 450;

/**
 * Compares how the CPU time of each query grows with the players of the board, and that of its bare
 * commands.
 * @param {import('ioredis').Redis} redis @param {{ sizes: number[], requests: number, json: boolean
 * }} options
 */
export function benchGrowth(redis, { sizes, requests, json }) {
  return withBoards(redis, sizes, async (boards) => {
    const rows = (await compare(boards, requests)).map((row) => ({ ...row, ...growth(row) }));
    if (json) console.log(JSON.stringify({ requests, rows }));
    else for (const row of rows) print(row);
  });
}

/**
 * Fills a board of each size that fits into memory, and removes them after the work.
 * @template T
 * @param {import('ioredis').Redis} redis @param {number[]} sizes @param {(boards: FilledBoard[]) =>
 * Promise<T>} work
 */
export function withBoards(redis, sizes, work) {
  /** @type {FilledBoard[]} */
  const boards = [];
  const fillAndWork = async () => {
    for (const size of sizesInMemory(sizes)) {
      const board = await FilledBoard.open(redis);
      boards.push(board);
      await board.grow(size);
    }
    if (boards.length === 0) throw new Error('no board fits into memory');
    return work(boards);
  };
  return withCleanUp(fillAndWork, async () => {
    for (const board of boards.reverse()) await board.remove();
  });
}

/** Those sizes, smallest first, whose boards fit into memory together. @param {number[]} sizes */
function sizesInMemory(sizes) {
  let free = process.availableMemory();
  return sizes
    .toSorted((a, b) => a - b)
    .filter((size) => {
      const fits = size * BYTES_PER_PLAYER <= free;
      if (fits) free -= size * BYTES_PER_PLAYER;
      else
        console.error(
          `no board of ${size} players: it needs ` +
            `${Math.round((size * BYTES_PER_PLAYER) / 1e6)} MB, and ${Math.round(free / 1e6)} MB ` +
            'are free',
        );
      return fits;
    });
}

/**
 * By how much CPU per request grows from the smallest board to the largest. @param {{ boards:
 * import('./measure.mjs').Comparison[] }} row
 */
function growth({ boards }) {
  const [least, most] = [boards[0], boards.at(-1)];
  if (least === undefined || most === undefined) throw new Error('there is no board');
  const reader = cpuOf(most.reader) / cpuOf(least.reader);
  const bare = cpuOf(most.bare) / cpuOf(least.bare);
  return { growth: { reader, bare, ratio: reader / bare } };
}

/**
 * @param {{ query: string, boards: import('./measure.mjs').Comparison[] } & ReturnType<typeof
 * growth>} row
 */
function print({ query, boards, growth: { reader, bare, ratio } }) {
  const figures = (/** @type {'reader' | 'bare'} */ side) =>
    boards.map((board) => cpuOf(board[side]).toFixed(0).padStart(6)).join('');
  const sizes = boards.map(({ players }) => players.toLocaleString('en')).join(', ');
  console.log(
    `${query} (${sizes} players; us of CPU, client + Redis)\n` +
      `  reader ${figures('reader')}  grows ${reader.toFixed(2)} times\n` +
      `  bare   ${figures('bare')}  grows ${bare.toFixed(2)} times\n` +
      `  reader / bare: ${ratio.toFixed(2)}`,
  );
}

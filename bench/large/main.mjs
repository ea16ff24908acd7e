// @ts-check
// `npm run bench:large -- [--players N] [--boards N] [--each N] [--json]`: one board of many
// players, and many boards, in a Redis of its own; memory, cost, and the longest call to Redis of
// each step.
import { readOptions, wholeNumber } from '../options.mjs';
import { Calls, withOwnRedis } from './calls.mjs';
import { manyBoards } from './many-boards.mjs';
import { oneBoard } from './one-board.mjs';

const values = readOptions('large', {
  players: { type: 'string', default: '10000000' },
  boards: { type: 'string', default: '100000' },
  each: { type: 'string', default: '100' },
  json: { type: 'boolean', default: false },
});
const players = wholeNumber('players', values.players, { least: 0, most: 100_000_000 });
const boards = wholeNumber('boards', values.boards, { least: 0, most: 1_000_000 });
const each = wholeNumber('each', values.each, { least: 1, most: 100_000 });

const result = {
  one:
    players === 0 ? undefined : await measured((redis, calls) => oneBoard(redis, calls, players)),
  many:
    boards === 0
      ? undefined
      : await measured((redis, calls) => manyBoards(redis, calls, { boards, each })),
};
console.log(values.json ? JSON.stringify(result) : text());

/**
 * @template T
 * @param {(redis: import('ioredis').Redis, calls: Calls) => Promise<T>} work
 */
function measured(work) {
  return withOwnRedis(async (redis) => {
    const calls = new Calls(redis);
    const figures = await work(redis, calls);
    await redis.ping(); // all that was sent before is measured
    return { figures, steps: calls.steps };
  });
}

function text() {
  const lines = [];
  if (result.one !== undefined) {
    const { bytesPerPlayer, zsetBytes, apply, reads } = result.one.figures;
    lines.push(
      `${players} players: ${bytesPerPlayer.toFixed(0)} bytes each; plain ZSET ` +
        zsetBytes.toFixed(0),
    );
    if (apply !== undefined)
      lines.push(
        `apply: ${apply.own.toFixed(1)} us of CPU per event (Redis ` +
          `${apply.ownRedis.toFixed(1)}); bare ${apply.bare.toFixed(1)} (Redis ` +
          `${apply.bareRedis.toFixed(1)})`,
      );
    for (const { query, reader = NaN, bare = NaN } of reads)
      lines.push(`${query}: ${reader.toFixed(0)} us of CPU; bare ${bare.toFixed(0)}`);
  }
  if (result.many !== undefined) {
    const { bytesPerBoard, bytesPerPlayer } = result.many.figures;
    lines.push(
      `${boards} boards: ${bytesPerBoard.toFixed(0)} bytes each, and ` +
        `${bytesPerPlayer.toFixed(0)} for each of ${each} players`,
    );
  }
  return lines.join('\n');
}

// @ts-check
import { counter } from '../apply/contenders.mjs';
import { batch, median, run } from '../apply/measure.mjs';
import { withBoards } from '../read/growth.mjs';
import { count, table } from './table.mjs';

const ROUNDS = 25;
const BATCH = 500;
const BATCHES_PER_ROUND = 4;

/**
 * @typedef {{ players: number, own: number, bare: number, ownRedis: number, bareRedis: number }}
 * Row us of CPU per event
 */

/**
 * Compares how the CPU of an event (Redis and its client) grows with the players of the board, with
 * that of ZREVRANK, ZINCRBY, ZREVRANK. Applies events of random players to each board and to its
 * plain ZSET, in rounds.
 * @param {import('ioredis').Redis} redis @param {number[]} sizes
 */
export function compareGrowth(redis, sizes) {
  return withBoards(redis, sizes, async (boards) => ({ rows: await compareRounds(redis, boards) }));
}

/**
 * The rows of filled boards. @param {import('ioredis').Redis} redis @param
 * {import('../read/filled-board.mjs').FilledBoard[]} boards
 */
export async function compareRounds(redis, boards) {
  const pairs = boards.map(({ board, players, prefix }) => ({
    ...{ players, board, bare: counter(redis, { views: 1, ranks: true, prefix }) },
    rounds: /** @type {Omit<Row, 'players'>[]} */ ([]),
  }));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { players, board, bare, rounds } of pairs) {
      const batches = Array.from({ length: BATCHES_PER_ROUND }, (_, index) =>
        batch(players + (round * BATCHES_PER_ROUND + index) * BATCH, BATCH, () =>
          Math.floor(Math.random() * players),
        ),
      );
      const own = perEvent(await run(redis, board, batches));
      const other = perEvent(await run(redis, bare, batches));
      const figures = { own: own.all, bare: other.all };
      // The first round warms up.
      if (round > 0) rounds.push({ ...figures, ownRedis: own.redis, bareRedis: other.redis });
    }
  return pairs.map(({ players, rounds }) => ({ players, ...medians(rounds) }));
}

/** @param {import('../apply/measure.mjs').Round} round */
function perEvent({ server, client }) {
  const events = BATCH * BATCHES_PER_ROUND;
  return { all: (server + client) / events, redis: server / events };
}

/** @param {Omit<Row, 'players'>[]} rounds @returns {Omit<Row, 'players'>} */
function medians(rounds) {
  const of = (/** @type {keyof Omit<Row, 'players'>} */ what) =>
    median(rounds.map((round) => round[what]));
  return {
    ...{ own: of('own'), bare: of('bare') },
    ...{ ownRedis: of('ownRedis'), bareRedis: of('bareRedis') },
  };
}

/** @param {{ rows: Row[] }} result */
export function growthText({ rows }) {
  const first = rows[0];
  const lines = rows.map(({ players, own, bare, ownRedis, bareRedis }) => {
    const grown = own / (first?.own ?? NaN);
    const bareGrown = bare / (first?.bare ?? NaN);
    return [
      ...[count(players), own.toFixed(1), ownRedis.toFixed(1), bare.toFixed(1)],
      ...[bareRedis.toFixed(1), grown.toFixed(2), bareGrown.toFixed(2)],
      (grown / bareGrown).toFixed(2),
    ];
  });
  const head = ['players', 'ranklog', 'of it Redis', 'bare', 'of it Redis', 'ranklog grows'];
  return [
    'us of CPU per event: Redis and its client; bare: ZREVRANK, ZINCRBY, ZREVRANK; times ' +
      'those of the first row\n',
    table([[...head, 'bare grows', 'ratio'], ...lines]),
  ].join('\n');
}

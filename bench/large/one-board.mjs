// @ts-check
// One board of many players: fill, apply, reads, build, promotion, verify.
import { parseBoardsFile } from '#board';
import { ranklog, toEntry } from '../apply/contenders.mjs';
import { compareRounds } from '../compare/growth.mjs';
import { BOARDS, FilledBoard } from '../read/filled-board.mjs';
import { compare, cpuOf } from '../read/measure.mjs';
import { Builder, buildAndVerify, stretchesOf } from './builder.mjs';
import { usedMemory } from './calls.mjs';

/** @typedef {import('./calls.mjs').Calls} Calls */

const REQUESTS = 1_000;
const [definition] = parseBoardsFile(BOARDS, 'bench');
if (definition === undefined) throw new Error('the bench has no board');

/** @param {import('ioredis').Redis} redis @param {Calls} calls @param {number} players */
export async function oneBoard(redis, calls, players) {
  const log = new Log();
  const board = new FilledBoard(redis, log.recording(await ranklog(redis, theDefinition())));
  const before = await usedMemory(redis);
  await calls.step(`${players} players: fill`, () => board.grow(players));
  const zset = (await redis.memory('USAGE', board.zset)) ?? NaN;
  const bytes = ((await usedMemory(redis)) - before - zset) / players;
  calls.isOff = true; // the comparisons read the CPU time themselves
  const [apply] = await compareRounds(redis, [board]);
  const reads = (await compare([board], REQUESTS)).map(({ query, boards: [row] }) => ({
    query,
    reader: row && cpuOf(row.reader),
    bare: row && cpuOf(row.bare),
  }));
  calls.isOff = false;
  const source = { definition: theDefinition(), stretches: () => log.stretches() };
  const compared = await buildAndVerify(calls, new Builder(redis, board.prefix, source));
  return { players, bytesPerPlayer: bytes, zsetBytes: zset / players, apply, reads, compared };
}

function theDefinition() {
  if (definition === undefined) throw new Error('the bench has no board');
  return definition;
}

/** All scores of the board, in order, in little memory. */
class Log {
  /** @type {number[]} */
  #players = [];
  /** @type {number[]} */
  #deltas = [];
  /** @type {number[]} */
  #times = [];

  /**
   * The contender, which notes what it applies. @param
   * {import('../apply/contenders.mjs').Contender} board
   */
  recording(board) {
    /** @type {import('../apply/contenders.mjs').Contender['apply']} */
    const apply = (scores, options) => {
      for (const { player, delta, time } of scores) {
        this.#players.push(Number(player.slice('player-'.length)));
        this.#deltas.push(delta);
        this.#times.push(time);
      }
      return board.apply(scores, options);
    };
    return { ...board, apply };
  }

  /** The stretches of the whole log. */
  stretches() {
    return stretchesOf((at) => {
      const player = `player-${this.#players[at]}`;
      const score = { player, delta: this.#deltas[at] ?? 0, time: this.#times[at] ?? 0 };
      return toEntry(theDefinition(), score, at);
    }, this.#players.length);
  }
}

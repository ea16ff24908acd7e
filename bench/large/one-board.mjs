// @ts-check
// One board of many players: fill, apply, reads, build, promotion, verify.
import { parseBoardsFile } from '#board';
import { BoardStore, GenerationCatalog, GenerationStore, KeySpace, LeaseStore } from '#board-store';
import { ranklog, toEntry } from '../apply/contenders.mjs';
import { compareRounds } from '../compare/growth.mjs';
import { BOARDS, FilledBoard } from '../read/filled-board.mjs';
import { compare, cpuOf } from '../read/measure.mjs';
import { usedMemory } from './calls.mjs';

/** @typedef {import('./calls.mjs').Calls} Calls */

const STRETCH = 500;
const REQUESTS = 1_000;
const RENEW_EVERY_MS = 1_000;
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
  const work = new Work(redis, board.prefix, log);
  await work.begin();
  await calls.step('build: events', () => work.build('build'));
  await calls.step('build: ranking', () => work.rank());
  await calls.step('build: promotion', () => work.promote());
  await calls.step('sweep of the previous generation', () => work.sweep());
  await calls.step('verify: events', () => work.build('verify'));
  const compared = await calls.step('verify: comparison', () => work.compare());
  await work.end();
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

  /** The stretches of the whole log, each for one call. */
  *stretches() {
    for (let from = 0; from < this.#players.length; from += STRETCH) {
      const through = Math.min(from + STRETCH, this.#players.length) - 1;
      const entries = Array.from({ length: through - from + 1 }, (_, index) => {
        const at = from + index;
        const player = `player-${this.#players[at]}`;
        const score = { player, delta: this.#deltas[at] ?? 0, time: this.#times[at] ?? 0 };
        return toEntry(theDefinition(), score, at);
      });
      yield { partition: 0, from, through, entries };
    }
  }
}

/** A process that builds the board again and verifies it. */
class Work {
  /** @type {import('#board-store').Lease | undefined} */
  #lease;
  /** @type {import('#board-store').Shadow | undefined} */
  #shadow;
  #renewed = 0;

  /** @param {import('ioredis').Redis} redis @param {string} prefix @param {Log} log */
  constructor(redis, prefix, log) {
    const keys = new KeySpace(prefix);
    this.log = log;
    this.store = new BoardStore(redis, keys, { shards: 1 });
    this.leases = new LeaseStore(redis, keys, { shards: 1 });
    this.generations = new GenerationStore(redis, keys, { shards: 1 });
    this.catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  }

  async begin() {
    this.#lease = await this.leases.acquire('bench', 'bench');
  }

  async end() {
    await this.leases.release(this.#held().lease);
  }

  #held() {
    if (this.#lease === undefined || this.#shadow === undefined) throw new Error('nothing begun');
    return { lease: this.#lease, shadow: this.#shadow };
  }

  async #renew() {
    if (performance.now() - this.#renewed < RENEW_EVERY_MS) return;
    this.#renewed = performance.now();
    if (this.#lease !== undefined) await this.leases.renew(this.#lease);
  }

  /** @param {'build' | 'verify'} purpose */
  async build(purpose) {
    if (this.#lease === undefined) throw new Error('nothing begun');
    const lease = this.#lease;
    const shadow = { definition: theDefinition(), purpose };
    this.#shadow = await this.generations.begin(lease, shadow);
    for (const stretch of this.log.stretches()) {
      await this.#renew();
      const { status } = await this.generations.catchUp(lease, this.#shadow, [stretch]);
      if (status !== 'applied') throw new Error(`the build was refused: ${status}`);
    }
  }

  async rank() {
    const { lease, shadow } = this.#held();
    await this.generations.promote(lease, shadow, [], { graceMs: 0 }); // says that it is not ranked
    for (let step = await this.generations.rank(lease, shadow); step.next !== undefined;) {
      await this.#renew();
      step = await this.generations.rank(lease, shadow, step.next);
    }
  }

  async promote() {
    const { lease, shadow } = this.#held();
    const outcome = await this.generations.promote(lease, shadow, [], { graceMs: 0 });
    const ending = outcome.status === 'applied' ? outcome.ending : outcome.status;
    if (typeof ending !== 'object') throw new Error(`not promoted: ${ending}`);
  }

  async sweep() {
    while ((await this.catalog.sweep()) > 0);
  }

  /** Compares the shadow with the live generation; returns how many players and event ids. */
  async compare() {
    const { lease, shadow } = this.#held();
    let compared = 0;
    /** @type {import('#board-store').ComparisonCursor | undefined} */
    let cursor;
    do {
      await this.#renew();
      const outcome = await this.generations.compare(lease, shadow, [], cursor);
      if (outcome.status !== 'applied' || outcome.ending === undefined)
        throw new Error(`the comparison was refused: ${outcome.status}`);
      const { ending } = outcome;
      if (ending.differences.length > 0) throw new Error('the build differs from live ingest');
      compared += ending.compared;
      cursor = ending.next;
    } while (cursor !== undefined);
    return compared;
  }
}

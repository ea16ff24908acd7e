import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { BoardReader } from '#board-store';
import { RanklogError } from '#errors';
import { openRedis } from '../../../scripts/redis-client.mjs';
import { EXIT } from '../../../src/cli/text/exit-codes.js';
import { isRedisUnavailable } from '../../../src/infra/redis.js';
import type { Status } from '../../../src/query/status/read-status.js';
import { BOARD_NAMES } from '../boards.js';
import { summary } from '../check/facts.js';
import type { PageFact } from '../check/pages.js';
import { below, pick, type Random } from '../random.js';
import { PARTITIONS, type World } from './world.js';

const MS_BETWEEN_PAGES = 50;
const MS_BETWEEN_STATUSES = 10_000;
const COMMAND_TIMEOUT_MS = 5_000;
/** A read takes a few commands, which wait for some answers of other nodes each. */
const MOST_MS_OF_A_READ = 30_000;
const MOST_MS_OF_A_STATUS = 60_000;
const MOST_PLAYERS = 10;
const SHARE_OF_LISTINGS = 0.05;
/** Texts of ioredis that only clients other than ranklog's own pass on. */
const CLIENT_ERROR = /^(Too many Cluster redirections|Failed to refresh slots cache)/;
/** The documented codes of reads whose arguments are right. */
const CODES =
  /^(UNKNOWN_BOARD|BOARD_BUILDING|NO_SUCH_VIEW|EXPIRED_VIEW|LISTING_INTERRUPTED|UNKNOWN_GENERATION)$/;

/** Reads pages of boards all the time, and now and then the status, beside the load. */
export class Reads {
  readonly pages: PageFact[] = [];
  readonly #problems: string[] = [];
  readonly #redis: Redis;
  readonly #reader: BoardReader;
  /** Another one, so that the first one keeps the generations that it knows. */
  readonly #boards: BoardReader;
  readonly #views = new Map<string, string[]>();
  readonly #end = new AbortController();
  #done: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly world: World,
    private readonly random: Random,
  ) {
    // Leaves a server that does not answer, as workers do: a frozen primary that goes on has old
    // boards, which are not marked as stale.
    this.#redis = openRedis(world.redis.url, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      socketTimeout: COMMAND_TIMEOUT_MS,
    });
    this.#redis.on('error', () => undefined); // commands report errors
    const options = { redis: this.#redis, prefix: world.keys.prefix };
    this.#reader = new BoardReader(options);
    this.#boards = new BoardReader(options);
  }

  start(): void {
    this.#done = Promise.all([
      this.#repeat(MS_BETWEEN_PAGES, () => this.#read()),
      this.#repeat(MS_BETWEEN_STATUSES, () => this.#status()),
    ]);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#done;
    this.#redis.disconnect();
  }

  get problems(): string[] {
    return summary('reads and statuses with a wrong answer', this.#problems);
  }

  async #repeat(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await work().catch((error: unknown) => this.#problems.push(String(error)));
      await delay(ms, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads a page, or lists the views of a board. */
  async #read(): Promise<void> {
    const board = pick(this.random, BOARD_NAMES);
    const views = this.#views.get(board) ?? [];
    const isListing = views.length === 0 || this.random() < SHARE_OF_LISTINGS;
    const start = performance.now();
    try {
      if (isListing) {
        const found = await this.#reader.views(board);
        this.#views.set(board, found.map(({ view }) => view)); // prettier-ignore
      } else await this.#readPage(board, pick(this.random, views));
      this.world.count('reads');
    } catch (error) {
      if (!isClear(error)) throw error;
      this.world.count('reads that failed');
    } finally {
      const ms = Math.round(performance.now() - start);
      if (ms > MOST_MS_OF_A_READ) this.#problems.push(`a read of ${board} took ${ms} ms`);
    }
  }

  async #readPage(board: string, view: string): Promise<void> {
    const [from, limit] = [1 + below(this.random, 4), 1 + below(this.random, MOST_PLAYERS)];
    const before = await this.#boards.board(board);
    const page = await this.#reader.standings(board, { view, from, limit });
    const { generation, definition } = await this.#boards.board(board);
    const isSame = before.generation === generation;
    this.pages.push({
      ...page,
      from,
      limit,
      definition,
      generation: isSame ? generation : undefined,
    });
    if (page.stale) this.world.count('stale pages');
  }

  async #status(): Promise<void> {
    const start = performance.now();
    const command = this.world.status();
    const output = await command.output([EXIT.ok, EXIT.unreachable]);
    const ms = Math.round(performance.now() - start);
    const code = await command.exitCode();
    this.world.count(`statuses with exit code ${code}`);
    const isFitting = code === EXIT.ok ? isStatus(output) : command.log.includes('ranklog: ');
    if (!isFitting) throw new Error(`status ended with ${code}: ${output}${command.log}`);
    if (ms > MOST_MS_OF_A_STATUS) throw new Error(`status took ${ms} ms: ${command.log}`);
  }
}

function isStatus(output: string): boolean {
  const { partitions, boards } = JSON.parse(output) as Status;
  const names: readonly string[] = BOARD_NAMES;
  return (
    partitions.length === PARTITIONS &&
    boards.every(({ board }) => names.includes(board)) &&
    partitions.every(({ published, committedEnd, logEnd, lag, stopped }) => {
      const missing = stopped === null ? committedEnd - published : logEnd - published;
      return published <= logEnd && lag === Math.max(0, missing);
    })
  );
}

function isClear(error: unknown): boolean {
  if (error instanceof RanklogError) return CODES.test((error as { code?: string }).code ?? '');
  return isRedisUnavailable(error) || (error instanceof Error && CLIENT_ERROR.test(error.message));
}

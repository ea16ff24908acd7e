import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import type { KafkaRecord, LogBatch } from '#kafka-batch';
import { Throttle } from '../infra/throttle.js';
import { LogFeed, type ReadFrom } from './log-feed.js';
import { ShadowQueue } from './shadow-queue.js';

const BOARDS = ['large', 'small'] as const;
type Board = (typeof BOARDS)[number];

const definitions = parseBoardsFile(
  'boards: { large: { columns: [{ name: points }] }, small: { columns: [{ name: points }] } }',
  'boards.yaml',
);

/** Records of a partition that are about one board and the other by turns. */
const LENGTH = 8_000;
const ROUND = 1_000;
const offsetsOf = (board: Board) =>
  Array.from({ length: LENGTH }, (_, offset) => offset).filter(
    (offset) => boardAt(offset) === board,
  );
const boardAt = (offset: number): Board => (offset % 2 === 0 ? 'large' : 'small');

const record = (offset: number): KafkaRecord => ({
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.from(JSON.stringify({ board: boardAt(offset), playerId: 'p', delta: 1 })),
  headers: {},
});

/** Reads a log of one partition, in rounds; what lies behind its end never comes. */
class Reader {
  #position: number;

  constructor({ from }: ReadFrom) {
    this.#position = from.get(0) ?? LENGTH;
  }

  async fetch(wanted: (partition: number) => boolean = () => true): Promise<LogBatch[]> {
    await nextTurn();
    if (!wanted(0) || this.#position >= LENGTH) return [];
    const nextOffset = Math.min(LENGTH, this.#position + ROUND);
    const records = Array.from({ length: nextOffset - this.#position }, (_, index) =>
      record(this.#position + index),
    );
    this.#position = nextOffset;
    return [{ partition: 0, records, nextOffset }];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A rate that does something between two slices of a round. */
class Slices extends Throttle {
  constructor(private readonly between: () => void) {
    super(undefined);
  }

  override async next(): Promise<void> {
    await nextTurn();
    this.between();
  }
}

/** A feed for the shadows of both boards, each of which is applied as far as `apply` says. */
class Sandbox {
  readonly taken: Record<Board, number[]> = { large: [], small: [] };
  readonly feed: LogFeed;
  readonly #ended = new AbortController();
  readonly queues: Record<Board, ShadowQueue>;
  opened = 0;
  /** What no queue ever holds more of. */
  mostWaiting = 0;

  constructor(between: () => void = () => undefined) {
    this.feed = new LogFeed({
      open: (where) => {
        this.opened += 1;
        return Promise.resolve(new Reader(where));
      },
      throttle: new Slices(between),
      signal: this.#ended.signal,
    });
    this.queues = { large: this.#queue('large'), small: this.#queue('small') };
    this.feed.cover([0]);
  }

  /** Whoever awaits it is told of a failure; it may fail before. */
  run(): Promise<void> {
    const run = this.feed.run();
    run.catch(() => undefined);
    return run;
  }

  /** A call of the shadow's script, up to the live applied offset, which is the end of the log. */
  apply(board: Board): void {
    const queue = this.queues[board];
    this.mostWaiting = Math.max(this.mostWaiting, queue.waiting(0));
    queue.heardLive(new Map([[0, LENGTH - 1]]));
    const [stretch] = queue.next({ entries: 300, viewUpdates: 300 }).stretches;
    if (stretch === undefined) return;
    this.taken[board].push(...stretch.entries.map(({ offset }) => offset));
    queue.heard(new Map([[0, { shadow: stretch.through, live: LENGTH - 1 }]]));
    this.feed.roomMade();
  }

  /** Applies what these boards are fed, until that holds. */
  async until(holds: () => boolean, boards: readonly Board[]): Promise<void> {
    const end = performance.now() + 60_000;
    while (!holds()) {
      await nextTurn();
      if (performance.now() > end) this.#fail();
      for (const board of boards) this.apply(board);
    }
  }

  isRead(board: Board): boolean {
    const queue = this.queues[board];
    return queue.position(0) >= LENGTH && queue.waiting(0) === 0;
  }

  /** Feeds until all that these boards need is read and applied. */
  async end(): Promise<void> {
    await this.until(() => BOARDS.every((board) => this.isRead(board)), BOARDS);
    for (const board of BOARDS) this.feed.remove(this.queues[board]);
  }

  /** The feed does not outlive the test. */
  #fail(): never {
    const error = new Error(`waited in vain; taken: ${this.#text()}`);
    this.#ended.abort(error);
    for (const board of BOARDS) this.feed.remove(this.queues[board]);
    throw error;
  }

  #queue(board: Board): ShadowQueue {
    const definition = definitions.find((one) => one.board === board);
    if (definition === undefined) throw new Error(`there is no board ${board}`);
    const queue = new ShadowQueue(
      { board, generation: 'g', definition, purpose: 'build' },
      new Map(),
    );
    this.feed.add(queue);
    return queue;
  }

  #text(): string {
    return BOARDS.map((board) => `${board} ${this.taken[board].length}`).join(', ');
  }
}

describe('the feed of several shadows', () => {
  it('brings each all that is about its board, in the order of the log', async () => {
    const sandbox = new Sandbox();
    const run = sandbox.run();
    await sandbox.end();
    await run;
    expect(sandbox.taken).toEqual({ large: offsetsOf('large'), small: offsetsOf('small') });
    expect(sandbox.opened).toBe(1);
  });
});

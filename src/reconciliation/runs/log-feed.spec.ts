import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import type { KafkaRecord, LogBatch, LogReaderOptions } from '#kafka-batch';
import { Throttle } from '../../infra/throttle.js';
import { LogFeed, type LogFeedOptions } from './log-feed.js';
import { ShadowQueue } from './shadow-queue.js';

const BOARDS = ['large', 'small'] as const;
type Board = (typeof BOARDS)[number];

const definitions = parseBoardsFile(
  'boards: { large: { columns: [{ name: points }] }, small: { columns: [{ name: points }] } }',
  'boards.yaml',
);

/** How many records the partition has; their boards alternate. */
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

/** Reads a log of one partition, in rounds; records after its end never come. */
class Reader {
  #position: number;

  constructor({ from }: Pick<LogReaderOptions, 'from'>) {
    this.#position = from.get(0) ?? LENGTH;
  }

  async fetch(wanted: ReadonlySet<number> = new Set([0])): Promise<LogBatch[]> {
    await nextTurn();
    if (!wanted.has(0) || this.#position >= LENGTH) return [];
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

const options = {
  throttle: new Throttle(undefined),
  signal: new AbortController().signal,
} as LogFeedOptions; // a fake reader needs no Kafka

/** A feed for the shadows of both boards. */
class Sandbox {
  readonly taken: Record<Board, number[]> = { large: [], small: [] };
  readonly feed = new LogFeed(options, (log) => {
    this.opened += 1;
    return Promise.resolve(new Reader(log));
  });
  readonly queues: Record<Board, ShadowQueue> = {
    large: this.#queue('large'),
    small: this.#queue('small'),
  };
  opened = 0;

  constructor() {
    this.feed.cover([0]);
  }

  /** Applies the next entries of a queue; the live applied offset is at the end of the log. */
  apply(board: Board): void {
    const queue = this.queues[board];
    queue.noteLive(new Map([[0, LENGTH - 1]]));
    const [stretch] = queue.next({ entries: 300, viewUpdates: 300 }).stretches;
    if (stretch === undefined) return;
    this.taken[board].push(...stretch.entries.map(({ offset }) => offset));
    queue.note(new Map([[0, { shadow: stretch.through, live: LENGTH - 1 }]]));
    this.feed.roomMade();
  }

  isDone(board: Board): boolean {
    const queue = this.queues[board];
    return queue.position(0) >= LENGTH && queue.waiting(0) === 0;
  }

  #queue(board: Board): ShadowQueue {
    const definition = definitions.find((one) => one.board === board)!;
    const queue = new ShadowQueue(
      { board, generation: 'g', definition, purpose: 'build' },
      new Map(),
    );
    this.feed.add(queue);
    return queue;
  }
}

describe('the feed of several shadows', () => {
  it('brings each shadow the events of its board, in the order of the log', async () => {
    const sandbox = new Sandbox();
    const { feed, queues } = sandbox;
    const run = feed.run();
    while (!BOARDS.every((board) => sandbox.isDone(board))) {
      for (const board of BOARDS) sandbox.apply(board);
      await nextTurn();
    }
    for (const board of BOARDS) feed.remove(queues[board]);
    await run;
    expect(sandbox.taken).toEqual({ large: offsetsOf('large'), small: offsetsOf('small') });
    expect(sandbox.opened).toBe(1);
  });

  it('stops reading while a queue is full, and continues once that queue is removed', async () => {
    const sandbox = new Sandbox();
    const { feed, queues } = sandbox;
    const run = feed.run();
    for (let turn = 0; turn < 200; turn++) {
      sandbox.apply('small');
      await nextTurn();
    }
    expect(queues.large.waiting(0)).toBeGreaterThan(0);
    expect(queues.large.waiting(0)).toBeLessThan(LENGTH / 2 - ROUND);
    expect(sandbox.isDone('small')).toBe(false);
    feed.remove(queues.large);
    while (!sandbox.isDone('small')) {
      sandbox.apply('small');
      await nextTurn();
    }
    feed.remove(queues.small);
    await run;
    expect(sandbox.taken.small).toEqual(offsetsOf('small'));
  });
});

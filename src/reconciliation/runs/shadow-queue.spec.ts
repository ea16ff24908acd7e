import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile } from '#board';
import type { EventEntry, Shadow, Stretch } from '#board-store';
import { ShadowQueue } from './shadow-queue.js';

const [arena] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'boards.yaml',
);
if (arena === undefined) throw new Error('the file defines no board');
const definition = arena;

const shadow: Shadow = { board: 'arena', generation: 'g', definition, purpose: 'build' };
const LIMITS = { entries: 10, viewUpdates: 20 };

function entry(offset: number, views = 1): EventEntry {
  const view = { view: 'all', expiresAt: null, published: true };
  const all = Array.from({ length: views }, () => view);
  const event = { playerId: 'p', occurredAt: 0, values: [1], views: all };
  return { kind: 'event', offset, board: 'arena', event };
}

/** A queue with this many entries in each partition, one per offset. */
function queueOf(counts: readonly number[]): ShadowQueue {
  const queue = new ShadowQueue(shadow, new Map());
  for (const [partition, count] of counts.entries())
    for (let offset = 0; offset < count; offset++) queue.add(partition, entry(offset));
  return queue;
}

const live = (appliedOffsets: readonly number[]) => new Map(appliedOffsets.entries());

describe('the next call for a shadow', () => {
  it('takes entries up to the live applied offsets, in equal shares of the partitions', () => {
    const queue = queueOf([100, 100, 2]);
    queue.noteLive(live([90, 90, 1]));
    const { stretches, reachesLive } = queue.next(LIMITS);
    expect(reachesLive).toBe(false);
    expect(stretches.map(({ entries }) => entries.length)).toEqual([4, 4, 2]);
    expect(stretches[0]).toMatchObject({ partition: 0, from: 0, through: 3 });
  });

  it('reaches the live applied offsets if all entries up to them fit, and then also brings entries beyond them', () => {
    const queue = queueOf([6, 6]);
    queue.noteLive(live([1, 1]));
    const { stretches, reachesLive } = queue.next(LIMITS);
    expect(reachesLive).toBe(true);
    expect(stretches.map(({ entries }) => entries.length)).toEqual([5, 5]);
    expect(stretches.map(({ through }) => through)).toEqual([4, 4]);
  });

  it('does not reach the live applied offsets while a partition is not read that far', () => {
    const queue = queueOf([2, 2]);
    queue.noteLive(live([1, 5]));
    expect(queue.next(LIMITS).reachesLive).toBe(false);
    expect(queue.behindLive()).toEqual([{ partition: 1, live: 5 }]);
    queue.advance(1, 6);
    const { reachesLive, stretches } = queue.next(LIMITS);
    expect(reachesLive).toBe(true);
    expect(stretches[1]).toMatchObject({ from: 0, through: 5 });
  });

  it('brings nothing if nothing can be applied', () => {
    const queue = queueOf([0]);
    queue.noteLive(live([7]));
    expect(queue.next(LIMITS)).toEqual({ reachesLive: false, isFull: false, stretches: [] });
  });

  it('holds fewer entries if they change many views, but at least one', () => {
    const queue = new ShadowQueue(shadow, new Map());
    for (let offset = 0; offset < 5; offset++) queue.add(0, entry(offset, 50));
    queue.noteLive(live([9]));
    expect(queue.next(LIMITS).stretches[0]?.entries).toHaveLength(1);
  });

  it('does not bring again what was applied', () => {
    const queue = new ShadowQueue({ ...shadow, starts: new Map([[0, 3]]) }, new Map([[0, 4]]));
    for (let offset = 0; offset < 8; offset++) queue.add(0, entry(offset));
    queue.noteLive(live([9]));
    expect(queue.next(LIMITS).stretches[0]).toMatchObject({ from: 5, through: 7 });
    expect(queue.note(new Map([[0, { shadow: 6, live: 9 }]]))).toBe(true);
    expect(queue.note(new Map([[0, { shadow: 6, live: 9 }]]))).toBe(false);
    expect(queue.next(LIMITS).stretches[0]).toMatchObject({ from: 7, through: 7 });
  });

  it('begins after the unanswered calls, or after the applied offsets once all calls are settled', () => {
    const queue = queueOf([30]);
    queue.noteLive(live([29]));
    const first = queue.next(LIMITS);
    expect(first).toMatchObject({ isFull: true, reachesLive: false });
    queue.send(first.stretches);
    queue.send(queue.next(LIMITS).stretches);
    queue.note(new Map([[0, { shadow: 9, live: 29 }]]));
    expect(queue.next(LIMITS).stretches).toMatchObject([{ from: 20, through: 29 }]);
    queue.settle();
    expect(queue.next(LIMITS).stretches).toMatchObject([{ from: 10, through: 19 }]);
  });

  it('brings every entry once and in order, however live ingest moves and answers fail', () => {
    const step = fc.record({
      moves: fc.tuple(...[30, 30, 30].map((max) => fc.nat({ max }))),
      fails: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const log = new AppliedLog([90, 40, 0]);
        for (const { moves, fails } of steps) log.step(moves, fails);
        for (let left = 0; left < 80; left++) log.step([90, 90, 90], false);
        expect(log.applied).toEqual(
          [90, 40, 0].map((count) => Array.from({ length: count }, (_, offset) => offset)),
        );
      }),
    );
  });
});

/**
 * Applies the calls of a queue as the script does: in order, up to the live applied offsets, and
 * without gaps.
 */
class AppliedLog {
  readonly applied: number[][];
  readonly #live: number[];
  readonly #at: number[];
  readonly #queue: ShadowQueue;
  #unanswered: readonly Stretch[] | undefined;

  constructor(private readonly counts: readonly number[]) {
    this.applied = counts.map(() => []);
    this.#live = counts.map(() => -1);
    this.#at = counts.map(() => -1);
    this.#queue = queueOf(counts);
  }

  /**
   * Live ingest moves on, the next call is sent, and the previous call is answered, or fails
   * without being applied.
   */
  step(moves: readonly number[], fails: boolean): void {
    for (const [partition, by] of moves.entries())
      this.#live[partition] = Math.min(
        (this.counts[partition] ?? 0) - 1,
        (this.#live[partition] ?? -1) + by,
      );
    const { stretches, isFull, reachesLive } = this.#queue.next(LIMITS);
    expect(stretches.flatMap(({ entries }) => entries).length).toBeLessThanOrEqual(LIMITS.entries);
    const before = this.#unanswered;
    const isSent = isFull && !reachesLive;
    this.#unanswered = isSent ? stretches : undefined;
    if (isSent) this.#queue.send(stretches);
    if (before !== undefined) this.#answer(before, fails);
    else if (!isSent) this.#answer(stretches, fails);
    if (fails) this.#unanswered = undefined;
    if (this.#unanswered === undefined) this.#queue.settle();
  }

  #answer(stretches: readonly Stretch[], fails: boolean): void {
    if (!fails) for (const stretch of stretches) this.#apply(stretch);
    const places = this.#at.map(
      (shadow, at) => [at, { shadow, live: this.#live[at] ?? -1 }] as const,
    );
    this.#queue.note(new Map(places));
  }

  #apply({ partition, from, through, entries }: Stretch): void {
    const at = this.#at[partition] ?? -1;
    expect(from).toBe(at + 1);
    const last = Math.min(through, this.#live[partition] ?? -1);
    const applied = entries.map(({ offset }) => offset).filter((offset) => offset <= last);
    this.applied[partition]?.push(...applied);
    this.#at[partition] = Math.max(at, last);
  }
}

function snapshotTo(end: number): ShadowQueue {
  return new ShadowQueue({ ...shadow, purpose: 'snapshot', ends: new Map([[0, end]]) }, new Map());
}

describe('the queue of a snapshot', () => {
  it('is at its ends when all records before them are applied, also if the log ends in transaction markers', () => {
    const queue = snapshotTo(5);
    queue.add(0, entry(2));
    queue.advance(0, 3);
    expect(queue.isAtEnds).toBe(false);
    queue.advance(0, 5);
    expect(queue.isAtEnds).toBe(false);
    queue.note(new Map([[0, { shadow: 2, live: 2 }]]));
    expect(queue.isAtEnds).toBe(true);
  });

  it('leaves out records at and after its ends', () => {
    const queue = snapshotTo(2);
    for (const offset of [1, 2, 3]) queue.add(0, entry(offset));
    queue.advance(0, 4);
    queue.noteLive(new Map([[0, 9]]));
    const { stretches } = queue.next({ entries: 10, viewUpdates: 10 });
    expect(stretches).toMatchObject([{ from: 0, through: 1, entries: [{ offset: 1 }] }]);
    expect(queue.needs(0)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Batch } from 'kafkajs';
import { eventually } from '../../../test/support/eventually.js';
import { LogGapError, PermanentPartitionError } from '../kafkajs/kafka-errors.js';
import type { PartitionAssignment, RecordBatch } from '../kafkajs/types.js';
import { PartitionWorker } from './partition-worker.js';

/** A worker with fake control and handlers; `log` has their calls, in order. */
class Fixture {
  readonly log: string[] = [];
  readonly lines: string[] = [];
  range = { start: 0, end: 1_000 };
  startOffset: () => Promise<number> = () => Promise.resolve(0);
  handle: (batch: RecordBatch) => Promise<void> = () => Promise.resolve();
  pause: () => void = () => undefined;
  release: () => Promise<void> = () => Promise.resolve();
  stops: () => boolean = () => false;
  assignment: PartitionAssignment | undefined;
  starts = 0;
  readonly worker: PartitionWorker;

  constructor(backoff = { firstMs: 1, maxMs: 2 }) {
    this.worker = new PartitionWorker({
      topic: 't',
      partition: 0,
      queue: { high: 4, low: 2, bytes: 1_000 },
      backoff,
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: (line) => this.lines.push(line),
        error: (line) => this.lines.push(line),
      },
      control: {
        pause: () => {
          this.log.push('pause');
          this.pause();
        },
        resume: () => this.log.push('resume'),
        seek: (offset) => this.log.push(`seek ${offset}`),
        logRange: () => Promise.resolve(this.range),
        stillOurs: () => Promise.resolve(true),
      },
      handlers: {
        assigned: (assignment) => {
          this.assignment = assignment;
          this.starts += 1;
          this.log.push('assigned');
          return this.startOffset();
        },
        batch: (batch) => {
          this.log.push(
            `batch ${batch.records.map(({ offset }) => offset).join(',')} -> ${batch.nextOffset}`,
          );
          return this.handle(batch);
        },
        released: () => {
          this.log.push('released');
          return this.release();
        },
        stops: () => this.stops(),
      },
    });
  }

  async start(): Promise<this> {
    this.worker.start(Promise.resolve());
    await settled();
    return this;
  }

  /** Offers a fetch that covers the offsets `from` to `next` - 1 and has records at `offsets`. */
  offer(
    from: number,
    offsets: number[],
    {
      bytes = 0,
      askedAt = performance.now(),
      next = (offsets.at(-1) ?? from) + 1,
      logEnd = 0,
      timestamp = 0,
    } = {},
  ): boolean {
    const messages = offsets.map((offset) => ({
      offset: String(offset),
      timestamp: String(timestamp),
      key: null,
      value: Buffer.alloc(bytes),
    }));
    return this.worker.offer({
      messages: messages as unknown as Batch['messages'],
      lastOffset: () => String(next - 1),
      fetchedOffset: String(from),
      highWatermark: String(Math.max(logEnd, next)),
      askedAt,
      fetchedSince: 0,
    });
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

const until = (condition: () => boolean) => eventually(condition, String(condition), 60);

describe('PartitionWorker', () => {
  it('looks up the start offset, then seeks and resumes', async () => {
    const { log, worker } = await new Fixture().start();
    expect(log).toEqual(['assigned', 'seek 0', 'resume']);
    expect(worker.health.state).toBe('running');
  });

  it('takes no batch before it runs', () => {
    expect(new Fixture().offer(0, [0])).toBe(false);
  });

  it('delivers batches in sequence', async () => {
    const fixture = new Fixture();
    let release: () => void = () => undefined;
    fixture.handle = () => new Promise((resolve) => (release = resolve));
    await fixture.start();
    expect(fixture.offer(0, [0, 1])).toBe(true);
    expect(fixture.offer(2, [2])).toBe(true);
    await settled();
    expect(fixture.log.slice(3)).toEqual(['batch 0,1 -> 2']);
    release();
    await settled();
    expect(fixture.log.slice(3)).toEqual(['batch 0,1 -> 2', 'batch 2 -> 3']);
    release();
  });

  it('reports its lag: up to the end of the log, since the time of the first record in hand', async () => {
    const fixture = new Fixture();
    const lag = () => [fixture.worker.health.lag, Math.round(fixture.worker.health.lagMs / 10_000)];
    expect(lag()).toEqual([0, 0]);
    fixture.startOffset = () => Promise.resolve(990);
    await fixture.start();
    expect(lag()).toEqual([10, 0]);
    let finish: () => void = () => undefined;
    fixture.handle = () => new Promise((resolve) => (finish = resolve));
    fixture.offer(990, [990, 991], { logEnd: 1_005, timestamp: Date.now() - 60_000 });
    await settled();
    expect(lag()).toEqual([15, 6]);
    finish();
    await settled();
    expect(lag()).toEqual([13, 6]);
    fixture.offer(992, [1_004], { timestamp: Date.now() - 30_000 });
    await settled();
    expect(lag()).toEqual([13, 3]);
    finish();
    await settled();
    expect(lag()).toEqual([0, 0]);
  });

  it('continues after the last taken batch when a rebalance ends', async () => {
    const fixture = await new Fixture().start();
    fixture.offer(0, [0, 1]);
    await settled();
    fixture.log.length = 0;
    expect(fixture.worker.continue()).toBe(true);
    expect(fixture.log).toEqual(['seek 2', 'resume']);
    fixture.offer(2, [2]);
    await until(() => fixture.log.includes('batch 2 -> 3'));
    expect(fixture.log).not.toContain('assigned');
  });

  it('stays paused after a rebalance while its queue is full', async () => {
    const fixture = new Fixture();
    fixture.handle = () => new Promise(() => undefined);
    await fixture.start();
    fixture.offer(0, [0]);
    fixture.offer(1, [1, 2, 3, 4, 5]);
    fixture.log.length = 0;
    expect(fixture.worker.continue()).toBe(true);
    expect(fixture.log).toEqual(['seek 6']);
  });

  it('does not continue after a rebalance if it is not running', async () => {
    const fixture = new Fixture();
    fixture.startOffset = () => new Promise(() => undefined);
    await fixture.start();
    expect(fixture.worker.continue()).toBe(false);
    expect(fixture.log).toEqual(['assigned']);
  });

  it.each([
    ['an earlier offset', 1],
    ['a later offset', 700],
  ])('starts again when a fetch has %s, and delivers none of its records', async (_, from) => {
    const fixture = await new Fixture().start();
    expect(fixture.offer(0, [0, 1])).toBe(true);
    expect(fixture.offer(from, [from, from + 1])).toBe(false);
    await until(() => fixture.log.filter((entry) => entry === 'assigned').length === 2);
    const done = fixture.log.filter((entry) => !['pause', 'resume'].includes(entry));
    expect(done.slice(2)).toEqual(['batch 0,1 -> 2', 'released', 'assigned', 'seek 0']);
    expect(fixture.lines.join()).toContain(`from offset ${from} on, because offset 2 comes next`);
    expect(fixture.offer(0, [0, 1])).toBe(true);
  });

  it('drops a fetch that was sent before its start', async () => {
    const fixture = new Fixture();
    const askedAt = performance.now();
    await fixture.start();
    expect(fixture.offer(0, [0, 1], { askedAt })).toBe(false);
    expect(fixture.offer(700, [700], { askedAt })).toBe(false);
    expect(fixture.offer(0, [0, 1, 2])).toBe(true);
    await settled();
    expect(fixture.log.slice(2)).toEqual(['resume', 'batch 0,1,2 -> 3']);
    expect(fixture.lines).toEqual([]);
  });

  it('releases and starts again after a handler throws anything', async () => {
    const fixture = await new Fixture().start();
    for (const error of [new TypeError('a bug'), new Error('no Redis'), 'a text']) {
      // A handler may throw anything.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      fixture.handle = () => Promise.reject(error);
      fixture.log.length = 0;
      fixture.offer(0, [0]);
      await until(() => fixture.log.includes('resume'));
      expect(fixture.log).toEqual([
        'batch 0 -> 1',
        'pause',
        'released',
        'assigned',
        'seek 0',
        'resume',
      ]);
    }
    fixture.handle = () => Promise.resolve();
    expect(fixture.offer(0, [0])).toBe(true);
  });

  it('starts again when the application calls restart', async () => {
    const fixture = await new Fixture().start();
    const signal = fixture.assignment?.signal;
    fixture.assignment?.restart(new Error('publishing failed'));
    await until(() => fixture.starts === 2 && fixture.worker.health.state === 'running');
    expect(signal?.aborted).toBe(true);
    expect(fixture.lines.join()).toContain('publishing failed');
    expect(fixture.log.filter((entry) => entry === 'released')).toHaveLength(1);
  });

  it('stays failed after a permanent error', async () => {
    const fixture = new Fixture();
    fixture.startOffset = () => Promise.reject(new PermanentPartitionError('no such topic'));
    await fixture.start();
    await until(() => fixture.worker.health.state === 'failed');
    expect(fixture.worker.health.error?.message).toBe('no such topic');
    expect(fixture.log).toEqual(['assigned', 'pause', 'released']);
    await fixture.worker.stop();
    expect(fixture.worker.health.state).toBe('released');
  });

  it('ends when the handler `stops` of a permanent error stops the worker', async () => {
    const fixture = new Fixture();
    fixture.startOffset = () => Promise.reject(new PermanentPartitionError('no such topic'));
    fixture.stops = () => {
      void fixture.worker.stop();
      return false;
    };
    await fixture.start();
    await until(() => fixture.worker.health.state === 'released');
  });

  it.each([
    ['begins after', { start: 6, end: 10 }],
    ['ends before', { start: 0, end: 4 }],
  ])('fails with a LogGapError when the log %s the start offset', async (_, range) => {
    const fixture = new Fixture();
    fixture.range = range;
    fixture.startOffset = () => Promise.resolve(5);
    await fixture.start();
    await until(() => fixture.worker.health.state === 'failed');
    expect(fixture.worker.health.error).toBeInstanceOf(LogGapError);
    expect(fixture.log).not.toContain('seek 5');
  });

  it('delivers fetches without records, with their start offsets', async () => {
    const fixture = await new Fixture().start();
    const begins: number[] = [];
    fixture.handle = ({ from }) => Promise.resolve(void begins.push(from));
    for (const [from, offsets, next] of [
      [0, [1], 3],
      [3, [], 5],
      [5, [5], 6],
    ] as const) {
      expect(fixture.offer(from, [...offsets], { next })).toBe(true);
      await settled();
    }
    expect(fixture.log.slice(3)).toEqual(['batch 1 -> 3', 'batch  -> 5', 'batch 5 -> 6']);
    expect(begins).toEqual([0, 3, 5]);
  });

  it('fails when the log is cut beyond the next offset while the worker runs', async () => {
    const fixture = await new Fixture().start();
    fixture.offer(0, [0], { next: 4 });
    await settled();
    expect(fixture.log).toContain('batch 0 -> 4');
    fixture.range = { start: 50, end: 60 };
    fixture.offer(50, [50]);
    await until(() => fixture.worker.health.state === 'failed');
    expect(fixture.log).not.toContain('batch 50 -> 51');
  });

  it('stops after the current batch and the release', async () => {
    const fixture = new Fixture();
    let release: () => void = () => undefined;
    fixture.handle = () => new Promise((resolve) => (release = resolve));
    await fixture.start();
    fixture.offer(0, [0]);
    fixture.offer(1, [1]);
    await settled();
    let stopped = false;
    const stopping = fixture.worker.stop().then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    release();
    await stopping;
    expect(fixture.log.slice(3)).toEqual(['batch 0 -> 1', 'pause', 'released']);
  });

  it('releases also when kafkajs fails to pause', async () => {
    const fixture = await new Fixture().start();
    fixture.pause = () => {
      throw new Error('consumer group was not initialized');
    };
    fixture.assignment?.restart(new Error('publishing failed'));
    await until(() => fixture.starts === 2);
    expect(fixture.log.slice(3, 6)).toEqual(['pause', 'released', 'assigned']);
    await fixture.worker.stop();
    expect(fixture.log.filter((entry) => entry === 'released')).toHaveLength(2);
  });

  it('starts again after a failed release', async () => {
    const fixture = await new Fixture().start();
    fixture.release = () => Promise.reject(new Error('no Redis'));
    fixture.assignment?.restart(new Error('publishing failed'));
    await until(() => fixture.log.filter((entry) => entry === 'resume').length === 2);
    expect(fixture.lines).toContain('releasing t/0 failed');
    await fixture.worker.stop();
    expect(fixture.worker.health.state).toBe('released');
  });

  it('releases each failed start once', async () => {
    const fixture = new Fixture();
    let starts = 0;
    fixture.startOffset = () => {
      starts += 1;
      return starts < 3 ? Promise.reject(new Error('no Redis')) : Promise.resolve(7);
    };
    await fixture.start();
    await until(() => fixture.worker.health.state === 'running');
    const failed = ['assigned', 'pause', 'released'];
    expect(fixture.log).toEqual([...failed, ...failed, 'assigned', 'seek 7', 'resume']);
  });

  it('restarts once for several calls of restart, with the first reason', async () => {
    const fixture = await new Fixture().start();
    fixture.assignment?.restart(new Error('the first reason'));
    fixture.assignment?.restart(new Error('the second reason'));
    await until(() => fixture.log.filter((entry) => entry === 'resume').length === 2);
    expect(fixture.lines).toHaveLength(1);
    expect(fixture.lines[0]).toContain('the first reason');
  });

  it('logs the reason of a restart, not the abort error of a handler', async () => {
    const fixture = new Fixture();
    fixture.handle = ({ assignment: { signal } }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('the wait was aborted')));
      });
    await fixture.start();
    fixture.offer(0, [0]);
    await settled();
    fixture.assignment?.restart(new PermanentPartitionError('a result is too large'));
    await until(() => fixture.worker.health.state === 'failed');
    expect(fixture.lines).toEqual(['t/0 stops: a result is too large']);
  });

  it('logs no abort error of a handler when it is stopped', async () => {
    const fixture = new Fixture();
    fixture.handle = ({ assignment: { signal } }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('the wait was aborted')));
      });
    await fixture.start();
    fixture.offer(0, [0]);
    await settled();
    await fixture.worker.stop();
    expect(fixture.lines).toEqual([]);
  });

  it('does not run when it is stopped while the application looks up the start offset', async () => {
    const fixture = new Fixture();
    let found: (offset: number) => void = () => undefined;
    fixture.startOffset = () => new Promise((resolve) => (found = resolve));
    await fixture.start();
    const stopping = fixture.worker.stop();
    expect(fixture.assignment?.signal.aborted).toBe(true);
    found(0);
    await stopping;
    expect(fixture.log).toEqual(['assigned', 'pause', 'released']);
  });

  it('stops without waiting for the backoff', async () => {
    const fixture = new Fixture({ firstMs: 3_600_000, maxMs: 3_600_000 });
    fixture.startOffset = () => Promise.reject(new Error('no Redis'));
    await fixture.start();
    await until(() => fixture.worker.health.state === 'backingOff');
    await fixture.worker.stop();
    expect(fixture.log).toEqual(['assigned', 'pause', 'released']);
  });

  it('starts only when the previous worker has ended, and not at all if it is stopped before', async () => {
    const fixture = new Fixture();
    let end: () => void = () => undefined;
    fixture.worker.start(new Promise((resolve) => (end = resolve)));
    await settled();
    expect(fixture.log).toEqual([]);
    const stopping = fixture.worker.stop();
    end();
    await stopping;
    expect(fixture.log).toEqual([]);
    expect(fixture.worker.health.state).toBe('released');
  });
});

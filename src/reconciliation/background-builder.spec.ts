import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { LeaseHeldError, type BoardStore } from '#board-store';
import { loggerTo, SILENT } from '../../test/support/loggers.js';
import { Maintenance } from '../infra/maintenance.js';
import { BackgroundBuilder } from './background-builder.js';
import type { BoardRegistrar } from './boards/board-registrar.js';
import type { Reconciler } from './reconciler.js';
import type { BuildOptions } from './runs/build.js';
import { HistoryCutError, OutOfMemoryError } from './runs/run-errors.js';

const [arena] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'boards.yaml',
) as [BoardDefinition];

const boards = {
  live: new Map(),
  building: new Set([arena.board]),
  removed: new Set<string>(),
  versions: [],
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Runs the build task every second, for this many ms. */
async function runFor(ms: number, build: Reconciler['build'], logger = SILENT): Promise<void> {
  const builder = new BackgroundBuilder(
    { boards: () => Promise.resolve(boards) } as unknown as BoardStore,
    { wanted: new Map([[arena.board, arena]]) } as unknown as BoardRegistrar,
    { build } as unknown as Reconciler,
    logger,
  );
  const run = (signal: AbortSignal) => builder.build(signal);
  const maintenance = new Maintenance([{ onFailure: 'no build', everyMs: 1_000, run }], logger);
  maintenance.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(ms);
  await maintenance.beforeApplicationShutdown();
}

/** How often a failing build is tried within this many ms. */
async function triesWithin(ms: number, failure: Error): Promise<number> {
  let tries = 0;
  await runFor(ms, () => Promise.reject(((tries += 1), failure)));
  return tries;
}

describe('a background build', () => {
  it('skips boards that are live, and keeps the shadows when it ends early', async () => {
    const options: BuildOptions[] = [];
    await runFor(1_500, (_, given) => Promise.resolve((options.push(given), [])));
    expect(options[0]).toMatchObject({ skipsLive: true, keepsShadows: true });
  });
});

describe('a background build that fails', () => {
  it('is retried within seconds', async () => {
    expect(await triesWithin(20_000, new Error('Kafka is away'))).toBeGreaterThan(2);
  });

  it('is logged once, also when another process holds the lease in between', async () => {
    const logged: string[] = [];
    const ends = [new Error('Kafka is away'), new LeaseHeldError(arena.board, 'another', 1_000)];
    let tries = 0;
    const build = () => Promise.reject(ends[tries++ % 2]!);
    await runFor(
      60_000,
      build,
      loggerTo((message) => logged.push(message)),
    );
    expect(tries).toBeGreaterThan(4);
    expect(logged).toEqual(['no build: Kafka is away']);
  });

  it('leaves the lease to the operator for a minute after a cut history', async () => {
    const cut = [{ partition: 0, from: 0, logStart: 5 }];
    expect(await triesWithin(50_000, new HistoryCutError([arena.board], cut, true))).toBe(1);
  });

  it('is retried after ten minutes when Redis is full', async () => {
    expect(await triesWithin(590_000, new OutOfMemoryError([arena.board]))).toBe(1);
    expect(await triesWithin(610_000, new OutOfMemoryError([arena.board]))).toBe(2);
  });
});

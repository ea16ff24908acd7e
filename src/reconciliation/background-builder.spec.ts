import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { BackgroundBuilder } from './background-builder.js';
import type { BuildOptions } from './build.js';
import { HistoryCutError, OutOfMemoryError } from './errors.js';

const [arena] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'boards.yaml',
) as [BoardDefinition];

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const boards = {
  live: new Map(),
  building: new Set([arena.board]),
  removed: new Set<string>(),
  versions: [],
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** How often a build is tried within so many ms, when each fails. */
async function triesWithin(ms: number, failure: Error): Promise<number> {
  let tries = 0;
  const build = () => Promise.reject(((tries += 1), failure));
  const builder = new BackgroundBuilder({
    store: { boards: () => Promise.resolve(boards) },
    reconciler: { build },
    registrar: { wanted: new Map([[arena.board, arena]]) },
    log,
  });
  builder.start();
  await jest.advanceTimersByTimeAsync(ms);
  await builder.stop();
  return tries;
}

describe('a background build', () => {
  it('is the first of its board, or none', async () => {
    const options: BuildOptions[] = [];
    const builder = new BackgroundBuilder({
      store: { boards: () => Promise.resolve(boards) },
      reconciler: { build: (_, given) => Promise.resolve((options.push(given), [])) },
      registrar: { wanted: new Map([[arena.board, arena]]) },
      log,
    });
    builder.start();
    await jest.advanceTimersByTimeAsync(1_500);
    await builder.stop();
    expect(options[0]).toMatchObject({ isFirst: true, keepsShadows: true });
  });
});

describe('a background build that fails', () => {
  it('is tried again soon', async () => {
    expect(await triesWithin(20_000, new Error('Kafka is away'))).toBeGreaterThan(2);
  });

  it('for a log that is cut leaves the lease to those who can say that it may be partial', async () => {
    const cut = [{ partition: 0, from: 0, logStart: 5 }];
    expect(await triesWithin(50_000, new HistoryCutError([arena.board], cut, true))).toBe(1);
  });

  it('for a Redis that is full lets live ingest be for ten minutes', async () => {
    expect(await triesWithin(590_000, new OutOfMemoryError([arena.board]))).toBe(1);
    expect(await triesWithin(610_000, new OutOfMemoryError([arena.board]))).toBe(2);
  });
});

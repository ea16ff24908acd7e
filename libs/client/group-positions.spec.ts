import { afterEach, describe, expect, it } from '@jest/globals';
import { HandledPositions } from './group-positions.js';

describe('HandledPositions', () => {
  const commits: [number, number][][] = [];
  const failures: unknown[] = [];
  let commit: () => Promise<void> = () => Promise.resolve();
  let positions: HandledPositions;
  afterEach(() => {
    positions.close();
    commits.length = 0;
    failures.length = 0;
    commit = () => Promise.resolve();
  });

  const create = (everyMs?: number) =>
    (positions = new HandledPositions(
      (open) => {
        commits.push([...open]);
        return commit();
      },
      (error) => failures.push(error),
      everyMs,
    ));

  it('commits the newest offset of each partition, once', async () => {
    create();
    positions.handled(0, 1);
    positions.handled(0, 2);
    positions.handled(1, 7);
    await positions.flush();
    await positions.flush();
    expect(commits).toEqual([
      [
        [0, 2],
        [1, 7],
      ],
    ]);
  });

  it('commits at an interval', async () => {
    create(1);
    positions.handled(0, 1);
    const end = performance.now() + 60_000;
    while (commits.length === 0 && performance.now() < end) await new Promise(setImmediate);
    expect(commits).toEqual([[[0, 1]]]);
  });

  it('starts no commit before the last one has ended, so that offsets do not go back', async () => {
    let release: () => void = () => undefined;
    commit = () => new Promise((resolve) => (release = resolve));
    create();
    positions.handled(0, 1);
    const first = positions.flush();
    await new Promise(setImmediate);
    positions.handled(0, 2);
    const second = positions.flush();
    await new Promise(setImmediate);
    expect(commits).toEqual([[[0, 1]]]);
    commit = () => Promise.resolve();
    release();
    await Promise.all([first, second]);
    expect(commits).toEqual([[[0, 1]], [[0, 2]]]);
  });

  it('commits offsets again after a failure, unless there are newer ones', async () => {
    commit = () => Promise.reject(new Error('no coordinator'));
    create();
    positions.handled(0, 1);
    positions.handled(1, 1);
    const failing = positions.flush();
    positions.handled(1, 2);
    await failing;
    expect(failures).toMatchObject([{ message: 'no coordinator' }]);
    commit = () => Promise.resolve();
    await positions.flush();
    expect(commits.at(-1)).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it('commits a released partition a last time, and not again if this fails', async () => {
    commit = () => Promise.reject(new Error('no coordinator'));
    create();
    positions.handled(0, 1);
    await positions.release(0);
    await positions.flush();
    expect(commits).toEqual([[[0, 1]]]);
  });

  it('remembers the last position of a released partition', async () => {
    create();
    positions.handled(0, 5);
    await positions.release(0);
    expect(positions.last(0)).toBe(5);
    expect(positions.last(1)).toBe(0);
  });
});

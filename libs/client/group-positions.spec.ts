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

  it('commits the newest position of each partition, and nothing twice', async () => {
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

  it('commits by itself', async () => {
    create(1);
    positions.handled(0, 1);
    const end = performance.now() + 60_000;
    while (commits.length === 0 && performance.now() < end) await new Promise(setImmediate);
    expect(commits).toEqual([[[0, 1]]]);
  });

  it('begins no commit before the last one is over: an older position must not come later', async () => {
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

  it('keeps what it could not commit, unless there is something newer', async () => {
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

  it('commits a partition that is released once more, and then no more', async () => {
    commit = () => Promise.reject(new Error('no coordinator'));
    create();
    positions.handled(0, 1);
    await positions.release(0);
    await positions.flush();
    expect(commits).toEqual([[[0, 1]]]);
  });
});

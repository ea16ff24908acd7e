import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { VerifyReport } from '../../src/verify/verify.js';
import { TestInstance } from '../support/instance.js';
import { definitionsOf, Sandbox, published, Traffic } from './sandbox.js';

const boards = (maxViews: number) => `boards:
  arena: { columns: [{ name: points }], dimensions: [[region]], maxViews: ${maxViews} }
  cup: { columns: [{ name: points }] }
`;
/** More regions than the board takes; which ones come first depends on how the partitions interleave. */
const event = (serial: number) => ({
  board: serial % 5 === 0 ? 'cup' : 'arena',
  playerId: `player-${serial % 40}`,
  delta: 1,
  attributes: { region: `r${serial % 12}` },
});

describe('a board whose maxViews has refused events', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeAll(async () => {
    instance = await TestInstance.create(boards(5));
    sandbox = new Sandbox(instance);
    traffic = new Traffic(instance, event);
    await instance.start();
    await traffic.send(500);
    await published(instance, traffic);
  });
  afterAll(async () => {
    await traffic.close();
    await instance.remove();
  });

  const verify = (...names: string[]) =>
    sandbox.reconciler.verify(names, { signal: AbortSignal.timeout(240_000) });

  it('is not comparable: verify says so in place of differences, and ends with 2', async () => {
    const [arena, cup] = (await verify('arena', 'cup')) as [VerifyReport, VerifyReport];
    expect(arena).toMatchObject({ equal: null, differences: [], differenceCount: 0 });
    expect(arena.tooManyViews?.expected).toBeGreaterThan(0);
    expect(arena.tooManyViews?.found).toBeGreaterThan(0);
    expect(cup).toMatchObject({ equal: true });
    expect(cup).not.toHaveProperty('tooManyViews');
    const verifying = instance.spawn('boards', 'verify');
    expect(await verifying.ended).toBe(2);
    expect(verifying.output).toMatch(
      /^arena: not comparable: maxViews has refused .* raise maxViews/m,
    );
    expect(verifying.output).toMatch(/^cup: as the log makes it/m);
  });

  it('is comparable again when it is built with room for all of them', async () => {
    const [arena] = definitionsOf(boards(50));
    if (arena === undefined) throw new Error('there is no definition');
    await sandbox.reconciler.build([arena], { signal: AbortSignal.timeout(240_000) });
    expect(await verify('arena')).toMatchObject([{ equal: true, views: 12 }]);
  });
});

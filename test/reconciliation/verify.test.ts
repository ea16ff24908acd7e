import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Oracle } from '../model/oracle.js';
import { TestInstance, until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { DAMAGES } from './damages.js';
import { definitionsOf, Ground, published, Traffic } from './ground.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: 3 }
    deduplicate: 24h
`;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const event = (serial: number) => ({
  board: 'arena',
  eventId: `event-${serial}`,
  playerId: `player-${(serial * 7_919) % 700}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial * 1_000).toISOString(),
  attributes: { region: serial % 2 === 0 ? 'eu' : 'us' },
});

describe('verify', () => {
  const { random, seed } = seededRandom();
  let instance: TestInstance;
  let ground: Ground;
  let traffic: Traffic;
  /** What the log makes of the board, until more is sent. */
  let oracle: Oracle | undefined;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 12 });
    ground = new Ground(instance);
    traffic = new Traffic(instance, event);
    await instance.start();
    await traffic.send(1_000);
    await published(instance, traffic);
  });
  afterAll(async () => {
    await traffic.close();
    await instance.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const verify = async () => {
    const [report] = await ground.reconciler.verify(['arena'], options());
    if (report === undefined) throw new Error('there is no report');
    return report;
  };
  const wrongViews = async () => {
    const [definition] = definitionsOf(BOARDS);
    oracle ??= await ground.oracle(definition!);
    return ground.wrongViews(definition!, oracle);
  };
  const rebuild = () => ground.reconciler.build(definitionsOf(BOARDS), options());

  it.each(Object.entries(DAMAGES))('finds %s, which a build mends', async (name, damage) => {
    const what = await damage(ground, 'arena', random);
    const found = await verify();
    expect({ seed, name, what, equal: found.equal }).toMatchObject({ equal: false });
    expect(found.differenceCount).toBeGreaterThan(0);
    await rebuild();
    const mended = await verify();
    expect({ seed, name, what, differences: mended.differences }).toMatchObject({
      differences: [],
    });
    expect(await wrongViews()).toEqual([]);
  });

  // Last: what is sent meanwhile, the others would have to read each time.
  it('under heavy traffic on 12 partitions ends, and finds nothing where nothing is wrong', async () => {
    traffic.start(100, 50);
    const sent = traffic.sent;
    await until(() => traffic.sent > sent + 2_000, 'traffic flows');
    const reports = [await verify(), await verify()];
    await traffic.stop();
    for (const { differences, equal, places, views } of reports)
      expect({ differences, equal, places: places > 1_000, views }).toMatchObject({
        differences: [],
        equal: true,
        places: true,
      });
    expect(await ground.generations.shadow('arena')).toBeUndefined();
    await published(instance, traffic);
  });
});

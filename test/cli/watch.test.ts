import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer, type LeaderChange, type RankChange } from '#client';
import { TestInstance } from '../support/instance.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }], publish: { leaders: 2 } }
  golf: { columns: [{ name: strokes, order: asc }], publish: { leaders: 1 } }
`;
const SCORES = [
  ['arena', 'ada', 3],
  ['golf', 'tom', 72],
  ['arena', 'bob', 5],
  ['arena', 'cyd', 4],
] as const;

describe('ranklog watch', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    await instance.start();
    const { kafka, name } = instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    await producer.connect();
    for (const [index, [board, playerId, delta]] of SCORES.entries()) {
      const occurredAt = `2026-01-01T00:00:0${index}Z`;
      await producer.send([{ board, playerId, delta, occurredAt }]);
      await instance.published(index + 1); // so that each event is a batch of its own
    }
    await producer.disconnect();
  });
  afterAll(() => instance.remove());

  const watch = async (limit: number, ...args: string[]) =>
    (await instance.run('watch', '--from-beginning', '--limit', String(limit), ...args))
      .trimEnd()
      .split('\n');

  it('shows the leader changes of a board, a line each', async () => {
    expect(await watch(3, 'arena', '--leaders')).toEqual([
      '2026-01-01T00:00:00.000Z  arena  all  ada new -> 1  top: ada (3)',
      '2026-01-01T00:00:02.000Z  arena  all  bob new -> 1  ada 1 -> 2  top: bob (5), ada (3)',
      '2026-01-01T00:00:03.000Z  arena  all  cyd new -> 2  ada 2 -> out  top: bob (5), cyd (4)',
    ]);
  });

  it('shows the leader changes in which a player entered, left or moved', async () => {
    const lines = await watch(1, '--leaders', '--player', 'bob', '--json');
    expect(lines.map((line) => JSON.parse(line) as LeaderChange)).toMatchObject([
      { board: 'arena', entered: [{ playerId: 'bob', rank: 1 }] },
    ]);
    expect(await watch(1, '--leaders', '--player', 'tom')).toEqual([
      '2026-01-01T00:00:01.000Z  golf  all  tom new -> 1  top: tom (72)',
    ]);
  });

  it('shows rank changes otherwise', async () => {
    const lines = await watch(2, '--json');
    expect(lines.map((line) => JSON.parse(line) as RankChange)).toMatchObject([
      { board: 'arena', playerId: 'ada' },
      { board: 'golf', playerId: 'tom' },
    ]);
  });
});

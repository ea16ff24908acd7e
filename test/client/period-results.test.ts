import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  PeriodResultSubscriber,
  periodResultId,
  TopicsMissingError,
  type PeriodResult,
} from '#client';
import { TestInstance, until } from '../support/instance.js';
import { announce, weekResult } from '../support/period-results.js';

const BOARDS = 'boards: { weekly: { columns: [{ name: points }] } }';
const FIRST = weekResult({ ada: 30, bob: 20 });
const NEXT = weekResult({ cyd: 9 }, { view: 'week:2026-W48', window: 'week:2026-W48' });
const OTHER = weekResult({ dan: 4 }, { board: 'golf' });

let instance: TestInstance;
let seen: PeriodResult[];
const subscribers: PeriodResultSubscriber[] = [];

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: 2 });
});
afterAll(() => instance.remove());
beforeEach(() => {
  seen = [];
});
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.stop();
});

async function subscribe(groupId: string, topicPrefix = instance.name): Promise<void> {
  const { kafka } = instance;
  const subscriber = new PeriodResultSubscriber({
    kafka,
    topicPrefix,
    groupId: `${instance.name}-${groupId}`,
    fromBeginning: true,
  });
  subscribers.push(subscriber);
  await subscriber.start((result) => void seen.push(result));
}

describe('a PeriodResultSubscriber', () => {
  it('gets committed results once, in order, and none of an aborted transaction', async () => {
    const { kafka, topics } = instance;
    await announce(kafka, topics, [OTHER], 'abort');
    await announce(kafka, topics, [FIRST, NEXT]);
    await subscribe('prizes');
    await until(() => seen.length === 2, 'both have come');
    await announce(kafka, topics, [OTHER]);
    await until(() => seen.length === 3, 'the next one has come');
    expect(seen).toEqual([FIRST, NEXT, OTHER]);
    expect(seen.map(periodResultId)).toEqual([
      'weekly/week:2026-W47/1',
      'weekly/week:2026-W48/1',
      'golf/week:2026-W47/1',
    ]);
  });

  it('does not start without its topic, like the other subscribers', async () => {
    await expect(subscribe('early', `${instance.name}-none`)).rejects.toThrow(TopicsMissingError);
  });
});

describe('ranklog periods watch', () => {
  const watch = async (limit: number, ...args: string[]) => {
    const common = ['periods', 'watch', '--from-beginning', '--limit', String(limit)];
    return (await instance.run(...common, ...args)).trim().split('\n');
  };
  beforeAll(async () => {
    await instance.run('boards', 'apply', '--yes');
  });

  it('prints a line for each result, or its JSON', async () => {
    const [, , other] = await watch(3);
    expect(other).toBe(
      '2026-11-23T00:00:00.000Z  golf  week:2026-W47  revision 1  players 1  first: dan (4)',
    );
    const [found = ''] = await watch(1, '--json', '--player', 'cyd');
    expect(JSON.parse(found)).toEqual(NEXT);
  });

  it('selects by board, which must be live', async () => {
    const found = await watch(1, 'weekly');
    expect(found).toEqual([expect.stringContaining('  weekly  week:2026-W47  ')]);
    const refused = instance.spawn('periods', 'watch', 'weakly');
    expect(await refused.ended).toBe(1);
    expect(refused.errors).toContain('did you mean weekly?');
  });

  it('says which topic is missing', async () => {
    const { admin, topics } = instance;
    await admin.deleteTopics({ topics: [topics.periodResults] });
    await until(
      async () => !(await admin.listTopics()).includes(topics.periodResults),
      'the topic is deleted',
    );
    const refused = instance.spawn('periods', 'watch');
    expect(await refused.ended).not.toBe(0);
    expect(refused.errors).toContain(`there is no topic ${topics.periodResults}`);
    await instance.run('topics');
  });
});

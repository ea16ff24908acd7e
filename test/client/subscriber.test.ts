import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LeaderChangeSubscriber,
  RankChangeSubscriber,
  ScoreProducer,
  type LeaderChange,
  type RankChange,
} from '#client';
import { TestInstance, until } from '../support/instance.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    publish: { leaders: 3 }
`;
const EVENTS = 5;

/** What both kinds of results have. */
type Result = Pick<RankChange | LeaderChange, 'source'>;

const subscribers = {
  'rank changes': RankChangeSubscriber,
  'leader changes': LeaderChangeSubscriber,
};

describe.each(Object.entries(subscribers))('a subscriber to %s', (_, Subscriber) => {
  let instance: TestInstance;
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    await instance.start();
    const { kafka, name } = instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    await producer.connect();
    for (let count = 1; count <= EVENTS; count++) {
      await producer.send([{ board: 'arena', playerId: 'ada', delta: 1 }]);
      await instance.published(count); // so that each event is a batch of its own
    }
    await producer.disconnect();
  });
  afterEach(() => instance.remove());

  /** Starts a member of the group, which hands over until `handle` throws. */
  const subscribe = async (handle: (result: Result) => void) => {
    const { kafka, name } = instance;
    const options = { kafka, groupId: `${name}-badges`, topicPrefix: name, fromBeginning: true };
    const subscriber = new Subscriber(options);
    await subscriber.start(handle);
    return subscriber;
  };

  it('ends with the error of its handler, and goes on with the same result when it starts again', async () => {
    const seen: number[] = [];
    const failing = await subscribe(({ source }) => {
      seen.push(source.offset);
      if (seen.length === 3) throw new Error('no more badges');
    });
    await expect(failing.failed).rejects.toThrow('no more badges');
    await failing.stop();
    expect(seen).toEqual([0, 1, 2]);

    const again = await subscribe(({ source }) => void seen.push(source.offset));
    await until(() => seen.length >= EVENTS + 1, 'the rest has come');
    await again.stop();
    expect(seen).toEqual([0, 1, 2, 2, 3, 4]);
  });

  it('goes on where it was stopped', async () => {
    const seen: number[] = [];
    const first = await subscribe(({ source }) => void seen.push(source.offset));
    await until(() => seen.length === EVENTS, 'all have come');
    await first.stop();
    const { kafka, name } = instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    const second = await subscribe(({ source }) => void seen.push(source.offset));
    await producer.connect();
    await producer.send([{ board: 'arena', playerId: 'bob', delta: 9 }]);
    await producer.disconnect();
    await until(() => seen.length > EVENTS, 'the next one has come');
    await second.stop();
    expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

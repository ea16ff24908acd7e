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

describe.each([RankChangeSubscriber, LeaderChangeSubscriber])(
  'a %p of an instance',
  (Subscriber) => {
    let instance: TestInstance;
    let producer: ScoreProducer;
    const score = async (count: number) => {
      await producer.send([{ board: 'arena', playerId: 'ada', delta: 1 }]);
      await instance.published(count); // so that each event is a batch of its own
    };
    beforeEach(async () => {
      instance = await TestInstance.create(BOARDS, { partitions: 1 });
      await instance.start();
      producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
      await producer.connect();
      for (let count = 1; count <= EVENTS; count++) await score(count);
    });
    afterEach(async () => {
      await producer.disconnect();
      await instance.remove();
    });

    it('repeats only the result of a failed handler, and continues where it was stopped', async () => {
      const seen: number[] = [];
      const record = ({ source }: Result) => void seen.push(source.offset);
      const subscribe = async (handle: (result: Result) => void) => {
        const { kafka, name } = instance;
        const options = {
          kafka,
          groupId: `${name}-badges`,
          topicPrefix: name,
          fromBeginning: true,
        };
        const subscriber = new Subscriber(options);
        await subscriber.start(handle);
        return subscriber;
      };
      const failing = await subscribe((result) => {
        record(result);
        if (seen.length === 3) throw new Error('no more badges');
      });
      await expect(failing.failed).rejects.toThrow('no more badges');
      await failing.stop();
      expect(seen).toEqual([0, 1, 2]);

      const second = await subscribe(record);
      await until(() => seen.length > EVENTS, 'the other results are handled');
      await second.stop();
      expect(seen).toEqual([0, 1, 2, 2, 3, 4]);

      const third = await subscribe(record);
      await score(EVENTS + 1);
      await until(() => seen.length > EVENTS + 1, 'the next result is handled');
      await third.stop();
      expect(seen).toEqual([0, 1, 2, 2, 3, 4, 5]);
    });
  },
);

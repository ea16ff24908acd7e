import { beforeEach, describe, expect, it } from '@jest/globals';
import { until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import type { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { scores, useScoreTopic } from './score-topic.js';

const PLAYERS = ['a', 'b', 'c', 'd', 'e'];
/**
 * The other partitions have published 5 events each of the old log; this one has published none.
 */
const UNUSED = 3;

describe('a score topic that was deleted and created again', () => {
  const made = useScoreTopic({ partitions: 4 });
  let proxy: KafkaProxy;
  let service: RanklogProcess;
  beforeEach(async () => {
    const { instance, log } = made;
    instance.env['RANKLOG_SESSION_TIMEOUT'] = '60s'; // so that the service stays in the group
    proxy = await made.throughKafkaProxy();
    service = await instance.start();
    for (const partition of [0, 1, 2]) await log.send(partition, PLAYERS);
    await instance.published(15);
  });

  /** Sends events of the new log: more than were published of the old one, as many, or fewer. */
  const sendOthers = async () => {
    const { log } = made;
    await log.send(0, [...PLAYERS, ...PLAYERS], 100);
    await log.send(1, PLAYERS, 100);
    await log.send(2, ['other'], 100);
  };
  /**
   * Checks that all but the unused partition stop with this error, and apply and publish nothing
   * more.
   */
  const expectStopped = async (error: RegExp) => {
    const { instance, log } = made;
    const partitions = [0, 1, 2];
    const stops = (partition: number) =>
      new RegExp(`${log.name}/${partition} stops:.*${error.source}`, 'i');
    for (const partition of partitions)
      await until(() => stops(partition).test(service.errors), `partition ${partition} stops`);
    for (const partition of partitions) await log.send(partition, PLAYERS, 100);
    await log.send(UNUSED, ['z', 'z']);
    await log.isPublished(UNUSED, 2);
    expect(await scores(instance)).toEqual({ a: 3, b: 3, c: 3, d: 3, e: 3, z: 2 });
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf).sort();
    const offsets = partitions.flatMap((partition) =>
      PLAYERS.map((_, offset) => `${partition}/${offset}`),
    );
    expect(causes).toEqual([...offsets, '3/0', '3/1'].map((place) => `${log.name}/${place}`));
    expect(service.exitCode).toBeNull();
  };

  it('stops partitions when a process starts', async () => {
    service.kill('SIGTERM');
    await service.ended;
    await made.log.recreate(4);
    await sendOthers();
    service = await made.instance.start();
    await expectStopped(/was applied up to offset 4, but the log (starts|has)/);
    expect(service.errors).toContain('the log starts at 0 and ends at 1');
    expect(service.errors).toContain('the log has another record there: the topic was recreated');
  });

  /**
   * What all forms of the error have in common: when the log is checked, it can be empty, shorter
   * or longer than the old one.
   */
  const RECREATED = /topic was recreated/;

  it('stops running partitions', async () => {
    await made.log.recreate(4);
    await made.log.send(2, ['other'], 100);
    await expectStopped(RECREATED);
  });

  it.each(['fails', 'succeeds'])(
    'stops running partitions if the new log is filled before the next fetch, which %s, and applies none of their new records',
    async (next) => {
      const { log } = made;
      const ofScores = ({ body }: KafkaRequest) => body.includes(log.name);
      const held = proxy.onRequest(KAFKA_API.fetch, 'hangBefore', { when: ofScores });
      await until(() => held.isDone, 'a fetch hangs');
      await log.recreate(4);
      await sendOthers();
      if (next === 'fails') {
        // The response to a fetch while the topic is still empty.
        const error = { error: KAFKA_ERROR.offsetOutOfRange, executed: false };
        proxy.onRequest(KAFKA_API.fetch, error, { when: ofScores });
      }
      proxy.breakAll();
      await expectStopped(RECREATED);
    },
  );
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { BOARDS, scores, ScoreTopic } from './score-topic.js';

const PLAYERS = ['a', 'b', 'c', 'd', 'e'];

/** Partition 0 has published 5 events of the log before; partition 1 none. */
describe('a score topic that was deleted and created again', () => {
  let instance: TestInstance;
  let log: ScoreTopic;
  let proxy: KafkaProxy;
  let service: RanklogProcess;
  beforeEach(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    instance.env['RANKLOG_SESSION_TIMEOUT'] = '60s'; // so that the service stays in the group
    log = new ScoreTopic(instance);
    service = await instance.start();
    await log.send(0, PLAYERS);
    await log.isPublished(0, 5);
  });
  afterEach(async () => {
    await instance.remove();
    await proxy.close();
  });

  const stop = async () => {
    service.kill('SIGTERM');
    await service.ended;
  };
  /** Partition 0 stops with this error, and applies and publishes nothing more; partition 1 continues. */
  const expectStopped = async (error: string | RegExp) => {
    await until(() => service.errors.includes(`${log.name}/0 stops:`), 'partition 0 stops');
    expect(service.errors).toMatch(error);
    await log.send(1, ['z']);
    await log.isPublished(1, 1);
    await log.send(0, PLAYERS, 100);
    await log.send(1, ['z']);
    await log.isPublished(1, 2);
    expect(await scores(instance)).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1, z: 2 });
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf).sort();
    expect(causes).toEqual(
      ['0/0', '0/1', '0/2', '0/3', '0/4', '1/0', '1/1'].map((place) => `${log.name}/${place}`),
    );
    expect(service.exitCode).toBeNull();
  };

  it('stops a partition at the start if it is shorter than the applied offset', async () => {
    await stop();
    await log.recreate(2);
    await log.send(0, ['other']);
    service = await instance.start();
    await expectStopped('was applied up to offset 4, but the log holds only 0 to 1');
  });

  it('stops a partition at the start if the last applied record differs', async () => {
    await stop();
    await log.recreate(2);
    await log.send(0, [...PLAYERS, ...PLAYERS], 100);
    service = await instance.start();
    await expectStopped(
      'was applied up to offset 4, but the log has another record there: the topic was recreated',
    );
  });

  /** The error depends on the time of the check: the log may be empty, short, or long. */
  const RECREATED = /topic was recreated/i;
  const ofScores = ({ body }: KafkaRequest) => body.includes(log.name);
  /** Recreates the topic while fetches of the service hang. */
  const recreateUnseen = async (players: readonly string[]) => {
    const held = proxy.onRequest(KAFKA_API.fetch, 'hangBefore', { when: ofScores });
    await until(() => held.isDone, 'a fetch hangs');
    await log.recreate(2);
    await log.send(0, players, 100);
  };

  it('stops a partition that runs if the log is shorter', async () => {
    await log.recreate(2);
    await log.send(0, ['other'], 100);
    await expectStopped(RECREATED);
  });

  it('stops a partition that runs if the log is longer, after an error of a fetch', async () => {
    await recreateUnseen([...PLAYERS, ...PLAYERS]);
    // The response to a fetch while the topic is still empty.
    const error = { error: KAFKA_ERROR.offsetOutOfRange, executed: false };
    proxy.onRequest(KAFKA_API.fetch, error, { when: ofScores });
    proxy.breakAll();
    await expectStopped(RECREATED);
  });

  it('stops a partition that runs if the log grew past the applied offset between two fetches, and applies none of it', async () => {
    await recreateUnseen([...PLAYERS, ...PLAYERS]);
    proxy.breakAll();
    await expectStopped(RECREATED);
  });

  it('stops a partition that runs if the log ends at the applied offset, though no fetch returns records', async () => {
    await recreateUnseen(PLAYERS);
    proxy.breakAll();
    await expectStopped(RECREATED);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { BOARDS, scores, ScoreTopic } from './score-topic.js';

const PLAYERS = ['a', 'b', 'c', 'd', 'e'];

/** Partition 0 has published 5 events of the log before; partition 1 none. */
describe('a score topic that was deleted and made anew', () => {
  let instance: TestInstance;
  let log: ScoreTopic;
  let proxy: KafkaProxy;
  let service: RanklogProcess;
  beforeEach(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    instance.env['RANKLOG_SESSION_TIMEOUT'] = '60s'; // who hears nothing for a while stays in the group
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
  /** Partition 0 stops with this error and has neither applied nor published more; partition 1 goes on. */
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

  it('stops its partitions when it is shorter than what was applied, found at the start', async () => {
    await stop();
    await log.recreate(2);
    await log.send(0, ['other']);
    service = await instance.start();
    await expectStopped('was applied up to offset 4, but the log holds only 0 to 1');
  });

  it('stops its partitions when it has grown past what was applied, found at the start by the record there', async () => {
    await stop();
    await log.recreate(2);
    await log.send(0, [...PLAYERS, ...PLAYERS], 100);
    service = await instance.start();
    await expectStopped(
      'was applied up to offset 4, but the log has another record there: the topic was recreated',
    );
  });

  /** What is told depends on when it is looked: while the log is empty or short, or has grown. */
  const MADE_ANEW = /topic was recreated/;
  const ofScores = ({ body }: KafkaRequest) => body.includes(log.name);
  /** The topic is another one before the service hears of it; then its connections are lost. */
  const recreateUnseen = async (players: readonly string[]) => {
    const held = proxy.onRequest(KAFKA_API.fetch, 'hangBefore', { when: ofScores });
    await until(() => held.isDone, 'it hears nothing meanwhile');
    await log.recreate(2);
    await log.send(0, players, 100);
  };

  it('stops its partitions when it is shorter, found while it runs', async () => {
    await log.recreate(2);
    await log.send(0, ['other'], 100);
    await expectStopped(MADE_ANEW);
  });

  it('stops its partitions when it has grown past what was applied, found while it runs by an error of a fetch', async () => {
    await recreateUnseen([...PLAYERS, ...PLAYERS]);
    // What a fetch is told that comes when the topic is still empty.
    const error = { error: KAFKA_ERROR.offsetOutOfRange, executed: false };
    proxy.onRequest(KAFKA_API.fetch, error, { when: ofScores });
    proxy.breakAll();
    await expectStopped(MADE_ANEW);
  });

  it('stops its partitions when it has grown past what was applied between two fetches, before any of it is applied', async () => {
    await recreateUnseen([...PLAYERS, ...PLAYERS]);
    proxy.breakAll();
    await expectStopped(MADE_ANEW);
  });

  it('stops its partitions when it was filled up to what was applied, though no fetch finds anything', async () => {
    await recreateUnseen(PLAYERS);
    proxy.breakAll();
    await expectStopped(MADE_ANEW);
  });
});

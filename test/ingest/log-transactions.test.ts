import { describe, expect, it } from '@jest/globals';
import { writeInterleaved } from '../kafka-batch/interleaved.js';
import { transactionsEnded } from '../support/kafka-client.js';
import { seededRandom } from '../support/seeded-random.js';
import { event, expectRankChanges, scores, useScoreTopic } from './score-topic.js';

describe('a score topic with transactions, some of them aborted', () => {
  const made = useScoreTopic({ partitions: 2 });

  it.each(['before ranklog starts', 'while ranklog runs'])(
    'has only its committed events applied and published; events written %s',
    async (when) => {
      const { instance, log } = made;
      const { random, seed } = seededRandom();
      process.stdout.write(`seed ${seed}\n`);
      const message = (step: number) => ({ value: event(`player-${step}`) });
      const write = () =>
        writeInterleaved({ kafka: instance.kafka, name: log.name }, { message, steps: 60, random });
      const writtenBefore = when === 'before ranklog starts' ? await write() : [];
      let service = await instance.start();
      const committed = when === 'while ranklog runs' ? await write() : writtenBefore;
      await instance.run('status', '--wait', '60');
      const players = committed.map((step) => `player-${step}`);
      expect(await scores(instance)).toEqual(
        Object.fromEntries(players.map((playerId) => [playerId, 1])),
      );
      expect(service.errors).not.toContain('stops:');

      service.kill('SIGTERM');
      await service.ended;
      service = await instance.start();
      await log.send(0, ['late']);
      await instance.run('status', '--wait', '60');
      const changes = await expectRankChanges(instance, players.length + 1);
      expect(changes.map(({ playerId }) => playerId)).toEqual([...players, 'late']);
      expect(service.errors).not.toContain('stops:');
    },
  );

  it('counts as fully published while the records after the published position are all aborted or in an open transaction', async () => {
    const { instance, log } = made;
    const producer = instance.kafka.producer({
      transactionalId: log.name,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const messages = (playerId: string) => [{ partition: 0, value: event(playerId) }];
    const aborted = await producer.transaction();
    await aborted.send({ topic: log.name, messages: messages('dropped') });
    await aborted.abort();
    await instance.start();
    await instance.run('status', '--wait', '60');
    const open = await producer.transaction();
    await open.send({ topic: log.name, messages: messages('late') });
    await log.send(1, ['other']);
    await instance.run('status', '--wait', '60');
    expect(await scores(instance)).toEqual({ other: 1 });
    await open.commit();
    await transactionsEnded(instance.kafka, log.name);
    await instance.run('status', '--wait', '60');
    expect(await scores(instance)).toEqual({ other: 1, late: 1 });
    await producer.disconnect();
  });
});

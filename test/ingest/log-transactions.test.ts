import { afterEach, describe, expect, it } from '@jest/globals';
import type { Producer, Transaction } from 'kafkajs';
import { transactionsEnded } from '../support/kafka-client.js';
import { expectRankChanges, scores, useScoreTopic } from './score-topic.js';

describe('a score topic with transactions, some of them aborted', () => {
  const made = useScoreTopic({ partitions: 2 });
  const producers: Producer[] = [];
  afterEach(async () => {
    await Promise.all(producers.splice(0).map((producer) => producer.disconnect()));
  });

  const idOf = (name: string) => `${made.instance.name}-${name}`;
  const producerOf = async (name: string) => {
    const producer = made.instance.kafka.producer({
      transactionalId: idOf(name),
      idempotent: true,
      maxInFlightRequests: 1,
    });
    producers.push(producer);
    await producer.connect();
    return producer;
  };
  const send = (transaction: Transaction, playerId: string, key: string | Buffer = playerId) =>
    transaction.send({
      topic: made.log.name,
      messages: [
        { partition: 0, key, value: JSON.stringify({ board: 'arena', playerId, delta: 1 }) },
      ],
    });

  /** Two producers whose transactions overlap: 5 events are committed, 5 aborted. The first committed one is `early`. */
  const interleave = async () => {
    const [one, two] = [await producerOf('one'), await producerOf('two')];
    const early = await one.transaction();
    await send(early, 'early');
    await early.commit();
    const kept = await one.transaction();
    const dropped = await two.transaction();
    await send(dropped, 'dropped 1');
    await send(kept, 'kept 1');
    await send(dropped, 'dropped 2');
    await send(kept, 'kept 2', Buffer.alloc(4));
    await dropped.abort();
    await send(kept, 'kept 3');
    const next = await two.transaction();
    await send(next, 'dropped 3');
    await kept.commit();
    const other = await one.transaction();
    await send(other, 'dropped 4');
    await other.abort();
    await send(next, 'dropped 5');
    await next.abort();
    const last = await two.transaction();
    await send(last, 'kept 4');
    await last.commit();
    await transactionsEnded(made.instance.kafka, idOf('one'), idOf('two'));
  };

  it.each(['before it starts', 'while it runs'])(
    'only committed events are applied and published, written %s',
    async (when) => {
      const { instance, log } = made;
      if (when === 'before it starts') await interleave();
      let service = await instance.start();
      if (when === 'while it runs') await interleave();
      await instance.run('status', '--wait', '60');
      const players = ['early', 'kept 1', 'kept 2', 'kept 3', 'kept 4'];
      const expected = Object.fromEntries(players.map((playerId) => [playerId, 1]));
      expect(await scores(instance)).toEqual(expected);

      service.kill('SIGTERM');
      await service.ended;
      service = await instance.start();
      await log.send(0, ['early']);
      await instance.run('status', '--wait', '60');
      expect(await scores(instance)).toEqual({ ...expected, early: 2 });
      const changes = await expectRankChanges(instance, 6);
      expect(changes.map(({ playerId }) => playerId)).toEqual([...players, 'early']);
      expect(service.errors).not.toContain('stops:');
    },
  );

  it('nothing is left to publish when all records are aborted, or their transaction is open', async () => {
    const { instance, log } = made;
    const producer = await producerOf('one');
    const aborted = await producer.transaction();
    await send(aborted, 'dropped');
    await aborted.abort();
    await instance.start();
    await instance.run('status', '--wait', '60');
    const open = await producer.transaction();
    await send(open, 'late');
    await log.send(1, ['other']);
    await instance.run('status', '--wait', '60');
    expect(await scores(instance)).toEqual({ other: 1 });
    await open.commit();
    await transactionsEnded(instance.kafka, idOf('one'));
    await instance.run('status', '--wait', '60');
    expect(await scores(instance)).toEqual({ other: 1, late: 1 });
  });
});

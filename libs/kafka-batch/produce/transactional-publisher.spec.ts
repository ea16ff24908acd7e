import { describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { ProducerFencedError, PublishOutcomeUnknownError } from '../kafkajs/kafka-errors.js';
import { BatchEncoder } from '../kafkajs/record-batch.js';
import { TransactionalPublisher } from './transactional-publisher.js';

type Step = 'connect' | 'init' | 'partitions' | 'group' | 'produce' | 'offset' | 'commit' | 'abort';

const NOT_COORDINATOR = 16;
const INVALID_PRODUCER_EPOCH = 47;
const CONCURRENT_TRANSACTIONS = 51;

/** A fake cluster: `log` has the requests, `failures` the errors of the next requests of a step. */
class Fixture {
  readonly log: string[] = [];
  readonly failures = new Map<Step, Error[]>();
  /** The bytes of each produce request. */
  readonly produced: Buffer[] = [];

  readonly #broker = {
    initProducerId: async () => {
      await this.#call('init');
      return { producerId: '7', producerEpoch: 1 };
    },
    addPartitionsToTxn: () => this.#call('partitions'),
    addOffsetsToTxn: () => this.#call('group'),
    txnOffsetCommit: () => this.#call('offset'),
    endTxn: ({ transactionResult }: { transactionResult: boolean }) =>
      this.#call(transactionResult ? 'commit' : 'abort'),
    lookupRequest: () => () => ({ request: {}, response: {} }),
    connectionPool: {
      send: async ({ request }: { request: { encode: () => Promise<{ buffer: Buffer }> } }) => {
        this.produced.push((await request.encode()).buffer);
        await this.#call('produce');
        return { topics: [{ partitions: [{ baseOffset: '7' }] }] };
      },
    },
  };

  readonly kafka = {
    [Symbol('private:Kafka:createCluster')]: () => ({
      isConnected: () => true,
      connect: () => this.#call('connect'),
      disconnect: () => this.#call('disconnect'),
      refreshMetadata: () => this.#call('refresh'),
      addMultipleTargetTopics: () => Promise.resolve(),
      findTopicPartitionMetadata: () => [{ partitionId: 3, leader: 1 }],
      findBroker: () => Promise.resolve(this.#broker),
      findGroupCoordinator: () => Promise.resolve(this.#broker),
    }),
  } as unknown as Kafka;

  async open(): Promise<TransactionalPublisher> {
    const publisher = await TransactionalPublisher.open(this.kafka, 't');
    this.log.length = 0;
    return publisher;
  }

  fail(step: Step, ...errors: (Error | number)[]): void {
    const list = errors.map((error) =>
      error instanceof Error ? error : protocolErrors.createErrorFromCode(error),
    );
    this.failures.set(step, list);
  }

  #call(step: Step | 'disconnect' | 'refresh'): Promise<void> {
    this.log.push(step);
    const failure = this.failures.get(step as Step)?.shift();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  }
}

function publication(count: number, maxBytes?: number) {
  const records = new BatchEncoder(maxBytes);
  for (let index = 0; index < count; index++) records.add({ value: `value ${index}.` });
  return {
    records: [{ topic: 'results', partition: 3, batches: records.close() }],
    offset: { groupId: 'g', topic: 'in', partition: 3, offset: 7 },
  };
}

describe('TransactionalPublisher', () => {
  it('only fences when it opens', async () => {
    const fixture = new Fixture();
    await TransactionalPublisher.open(fixture.kafka, 't');
    expect(fixture.log).toEqual(['connect', 'init']);
  });

  it.each(['connect', 'init'] as const)('leaves no connection open when %s fails', async (step) => {
    const fixture = new Fixture();
    fixture.fail(step, new Error('no connection'));
    await expect(fixture.open()).rejects.toThrow('no connection');
    expect(fixture.log.at(-1)).toBe('disconnect');
  });

  it('closes its connections, and then rejects publications', async () => {
    const fixture = new Fixture();
    const publisher = await fixture.open();
    await publisher.close();
    expect(fixture.log).toEqual(['disconnect']);
    await expect(publisher.publish(publication(1))).rejects.toThrow('is closed');
  });

  it('sends batches of one topic in order, and commits last', async () => {
    const fixture = new Fixture();
    await (await fixture.open()).publish(publication(450, 2_000));
    const sends = fixture.log.filter((step) => step === 'produce');
    expect(fixture.log.slice(0, 2)).toEqual(['partitions', 'group']);
    expect(fixture.log.at(-1)).toBe('commit');
    expect(sends.length).toBeGreaterThan(2);
    const text = Buffer.concat(fixture.produced).toString('latin1');
    const values = [...text.matchAll(/value (\d+)\./g)].map(([, index]) => Number(index));
    expect(values).toEqual(Array.from({ length: 450 }, (_, index) => index));
  });

  it('commits an offset without records', async () => {
    const fixture = new Fixture();
    await (await fixture.open()).publish({ ...publication(1), records: [] });
    expect(fixture.log).toEqual(['group', 'offset', 'commit']);
  });

  it('retries while the coordinator is busy or moves, and commits once', async () => {
    const fixture = new Fixture();
    const publisher = await fixture.open();
    fixture.fail('offset', CONCURRENT_TRANSACTIONS, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS);
    await publisher.publish(publication(1));
    const asked = ['offset', 'offset', 'refresh', 'offset', 'offset', 'commit'];
    const steps = fixture.log.filter((step) => step !== 'produce'); // sent beside the offset
    expect(steps).toEqual(['partitions', 'group', ...asked]);
  });

  it('reports an unknown outcome after a failed commit, with its cause, and is then broken', async () => {
    const fixture = new Fixture();
    const publisher = await fixture.open();
    const lost = new Error('the connection was closed');
    fixture.fail('commit', lost);
    const failure = publisher.publish(publication(1));
    await expect(failure).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
    await expect(failure).rejects.toMatchObject({ cause: lost });
    const asked = fixture.log.length;
    await expect(publisher.publish(publication(1))).rejects.toBeInstanceOf(
      PublishOutcomeUnknownError,
    );
    expect(fixture.log).toHaveLength(asked);
    expect(fixture.log).not.toContain('abort');
  });

  it.each(['partitions', 'group', 'produce', 'offset'] as const)(
    'aborts when %s fails, and throws that error even if the abort fails',
    async (step) => {
      const fixture = new Fixture();
      const publisher = await fixture.open();
      const first = new Error('the first failure');
      fixture.fail(step, first);
      fixture.fail('abort', new Error('the second failure'));
      await expect(publisher.publish(publication(1))).rejects.toMatchObject({ cause: first });
      expect(fixture.log.at(-1)).toBe('abort');
      expect(fixture.log).not.toContain('commit');
    },
  );

  it.each(['partitions', 'produce', 'offset', 'commit'] as const)(
    'throws ProducerFencedError when %s is refused for an old producer epoch',
    async (step) => {
      const fixture = new Fixture();
      const publisher = await fixture.open();
      fixture.fail(step, INVALID_PRODUCER_EPOCH);
      await expect(publisher.publish(publication(1))).rejects.toBeInstanceOf(ProducerFencedError);
    },
  );
});

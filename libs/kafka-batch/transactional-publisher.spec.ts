import { describe, expect, it } from '@jest/globals';
import type { Kafka, Message } from 'kafkajs';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { ProducerFencedError, PublishOutcomeUnknownError } from './errors.js';
import { TransactionalPublisher } from './transactional-publisher.js';

type Step = 'connect' | 'transaction' | 'send' | 'sendOffsets' | 'commit' | 'abort';

const NOT_COORDINATOR = 16;
const INVALID_PRODUCER_EPOCH = 47;
const CONCURRENT_TRANSACTIONS = 51;

/** A fake producer: `log` has the calls, `failures` the errors of the next calls of a step. */
class Fixture {
  readonly log: string[] = [];
  readonly sent: { topic: string; messages: Message[] }[] = [];
  readonly failures = new Map<Step, Error[]>();

  readonly kafka = {
    [Symbol('private:Kafka:createCluster')]: () => ({
      connect: () => Promise.resolve(),
      disconnect: () => {
        this.log.push('disconnect');
        return Promise.resolve();
      },
    }),
    producer: () => ({
      connect: () => this.#call('connect'),
      transaction: async () => {
        await this.#call('transaction');
        return this.#transaction();
      },
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

  #transaction() {
    return {
      send: (topicMessages: { topic: string; messages: Message[] }) => {
        this.sent.push(topicMessages);
        return this.#call('send');
      },
      sendOffsets: () => this.#call('sendOffsets'),
      commit: () => this.#call('commit'),
      abort: () => this.#call('abort'),
    };
  }

  #call(step: Step): Promise<void> {
    this.log.push(step);
    const failure = this.failures.get(step)?.shift();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  }
}

const publication = (count: number) => ({
  records: [
    {
      topic: 'results',
      partition: 3,
      messages: Array.from({ length: count }, (_, index) => ({ value: String(index) })),
    },
  ],
  offset: { groupId: 'g', topic: 'in', partition: 3, offset: 7 },
});

describe('TransactionalPublisher', () => {
  it('fences with an empty transaction when it opens', async () => {
    const fixture = new Fixture();
    await TransactionalPublisher.open(fixture.kafka, 't');
    expect(fixture.log).toEqual(['connect', 'transaction', 'abort']);
  });

  it.each(['connect', 'transaction'] as const)(
    'leaves no connection open when %s fails',
    async (step) => {
      const fixture = new Fixture();
      fixture.fail(step, new Error('no connection'));
      await expect(fixture.open()).rejects.toThrow('no connection');
      expect(fixture.log.at(-1)).toBe('disconnect');
    },
  );

  it('closes its connections, and then rejects publications', async () => {
    const fixture = new Fixture();
    const publisher = await fixture.open();
    await publisher.close();
    expect(fixture.log).toEqual(['disconnect']);
    await expect(publisher.publish(publication(1))).rejects.toThrow('is closed');
  });

  it('sends in chunks, sets the partition of every message, and sends the offset last', async () => {
    const fixture = new Fixture();
    await (await fixture.open()).publish(publication(4_500));
    expect(fixture.log).toEqual(['transaction', ...Array(3).fill('send'), 'sendOffsets', 'commit']);
    const messages = fixture.sent.flatMap((send) => send.messages);
    expect(fixture.sent.map((send) => send.messages.length)).toEqual([2_000, 2_000, 500]);
    expect(messages.map(({ value }) => value)).toEqual(
      publication(4_500).records[0]?.messages.map(({ value }) => value),
    );
    expect(messages.every(({ partition }) => partition === 3)).toBe(true);
  });

  it('sends to one partition at a time, because kafkajs may lose or repeat messages of a larger send when leaders move', async () => {
    const fixture = new Fixture();
    const { records, offset } = publication(1);
    const both = [...records, ...records.map((one) => ({ ...one, topic: 'others' }))];
    await (await fixture.open()).publish({ records: both, offset });
    expect(fixture.sent.map(({ topic }) => topic)).toEqual(['results', 'others']);
    expect(fixture.log).toEqual(['transaction', 'send', 'send', 'sendOffsets', 'commit']);
  });

  it('retries while the coordinator is busy or moves, and commits once', async () => {
    const fixture = new Fixture();
    const publisher = await fixture.open();
    fixture.fail('sendOffsets', CONCURRENT_TRANSACTIONS, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS);
    await publisher.publish(publication(1));
    expect(fixture.log).toEqual(['transaction', 'send', ...Array(4).fill('sendOffsets'), 'commit']);
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

  it.each(['send', 'sendOffsets'] as const)(
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

  it.each(['send', 'sendOffsets', 'commit'] as const)(
    'throws ProducerFencedError when %s is refused for an old producer epoch',
    async (step) => {
      const fixture = new Fixture();
      const publisher = await fixture.open();
      fixture.fail(step, INVALID_PRODUCER_EPOCH);
      await expect(publisher.publish(publication(1))).rejects.toBeInstanceOf(ProducerFencedError);
    },
  );
});

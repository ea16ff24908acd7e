import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ConsumerConfig, EachBatchPayload, Kafka } from 'kafkajs';
import type { GroupFacts } from '../kafkajs/types.js';
import { BatchConsumer, type BatchConsumerOptions } from './batch-consumer.js';

const TOPIC = 't';

interface OffsetAsk {
  readonly partition: number;
  readonly timestamp: string;
}

/** A fake cluster whose two partitions hold the offsets 0 to 99. */
function fakeCluster(): object {
  const nothing = () => Promise.resolve();
  // -2 asks for the earliest
  const offset = (timestamp: string) => (timestamp === '-2' ? '0' : '100');
  const listOffsets = ({ topics }: { topics: { partitions: OffsetAsk[] }[] }) => {
    const partitions = topics.flatMap((topic) =>
      topic.partitions.map(({ partition, timestamp }) => ({
        partition,
        offset: offset(timestamp),
      })),
    );
    return Promise.resolve({ responses: [{ topic: TOPIC, partitions }] });
  };
  return {
    ...{
      connect: nothing,
      disconnect: nothing,
      addMultipleTargetTopics: nothing,
      refreshMetadata: nothing,
    },
    findTopicPartitionMetadata: () => [0, 1].map((partitionId) => ({ partitionId, leader: 1 })),
    findBroker: () => Promise.resolve({ listOffsets }),
  };
}

/**
 * A BatchConsumer on a fake client; `log` has the calls of the client and the handlers, in order.
 */
class Fixture {
  readonly log: string[] = [];
  readonly fatal: Error[] = [];
  readonly lines: string[] = [];
  readonly consumer: BatchConsumer;
  handled: Promise<void> = Promise.resolve();
  mayRestart: () => Promise<boolean> | undefined = () => undefined;
  subscribe: () => Promise<void> = () => Promise.resolve();
  run: () => Promise<void> | void = () => undefined;
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = () => Promise.resolve();
  readonly #listeners = new Map<string, (event: { payload: object }) => void>();

  constructor(more: Partial<BatchConsumerOptions> = {}) {
    const client = {
      events: {
        ...{ GROUP_JOIN: 'join', CRASH: 'crash', FETCH: 'fetch' },
        RECEIVED_UNSUBSCRIBED_TOPICS: 'unsubscribed',
      },
      connect: () => this.#call('connect'),
      disconnect: () => this.#call('disconnect'),
      subscribe: () => this.subscribe(),
      on: (event: string, listener: (event: { payload: object }) => void) =>
        this.#listeners.set(event, listener),
      run: ({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) => {
        this.#eachBatch = eachBatch;
        return Promise.all([this.run(), this.#call('run')]);
      },
      pause: ([{ partitions }]: [{ partitions: number[] }]) =>
        this.#call(`pause ${partitions.join()}`),
      resume: ([{ partitions }]: [{ partitions: number[] }]) =>
        this.#call(`resume ${partitions.join()}`),
      commitOffsets: (positions: { partition: number; offset: string }[]) =>
        this.#call(
          `commit ${positions.map(({ partition, offset }) => `${partition}@${offset}`).join()}`,
        ),
      seek: ({ offset }: { offset: string }) => this.#call(`seek ${offset}`),
    };
    const admin = {
      connect: () => Promise.resolve(),
      disconnect: () => this.#call('disconnect admin'),
      // as during a rebalance
      describeGroups: () => Promise.resolve({ groups: [{ protocol: '', members: [] }] }),
    };
    this.consumer = new BatchConsumer({
      kafka: {
        consumer: ({ retry }: ConsumerConfig) => {
          this.mayRestart = () => retry?.restartOnFailure?.(new Error('a crash'));
          return client;
        },
        admin: () => admin,
        [Symbol('private:Kafka:createCluster')]: fakeCluster,
      } as unknown as Kafka,
      groupId: 'g',
      topic: TOPIC,
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: (line) => this.lines.push(line),
        error: (line) => this.lines.push(line),
      },
      onFatal: (error) => this.fatal.push(error),
      backoff: { firstMs: 1, maxMs: 2 },
      handlers: {
        assigned: () => this.#call('assigned').then(() => 0),
        batch: () => this.handled,
        released: () => this.#call('released'),
      },
      ...more,
    });
  }

  fetchedSome(): void {
    this.#listeners.get('fetch')?.({ payload: {} });
  }

  joined(partitions: number[], memberId = 'm'): void {
    const payload = { memberId, memberAssignment: { [TOPIC]: partitions } };
    this.#listeners.get('join')?.({ payload });
  }

  crashed(restart: boolean, error = new Error('a crash')): void {
    this.#listeners.get('crash')?.({ payload: { error, restart } });
  }

  assignedOtherTopics(topicsNotSubscribed: string[]): void {
    this.#listeners.get('unsubscribed')?.({ payload: { topicsNotSubscribed } });
  }

  /** Delivers one record, as kafkajs does. Returns the resolved offset, if any. */
  async fetched(partition: number, offset: number, more: object = {}): Promise<string | undefined> {
    let resolved: string | undefined;
    const messages = [{ offset: String(offset), timestamp: '0', key: null, value: null }];
    await this.#eachBatch({
      batch: {
        topic: TOPIC,
        partition,
        messages,
        fetchedOffset: String(offset),
        askedAt: performance.now(),
        lastOffset: () => String(offset),
      },
      isStale: () => false,
      isRunning: () => true,
      resolveOffset: (last: string) => (resolved = last),
      ...more,
    } as unknown as EachBatchPayload);
    return resolved;
  }

  async running(): Promise<this> {
    await this.consumer.start();
    this.joined([0]);
    await this.until(() => this.consumer.health().partitions.get(0)?.state === 'running');
    return this;
  }

  async until(condition: () => boolean): Promise<void> {
    const end = performance.now() + 60_000;
    while (!condition() && performance.now() < end) await new Promise(setImmediate);
    expect(condition()).toBe(true);
  }

  #call(what: string): Promise<void> {
    this.log.push(what);
    return Promise.resolve();
  }
}

describe('BatchConsumer', () => {
  let fixture: Fixture;
  const running = async () => (fixture = await new Fixture().running());
  afterEach(() => {
    jest.useRealTimers();
    return fixture.consumer.close();
  });

  describe('with a protocol of its own', () => {
    const refused = Object.assign(new Error('refused'), { type: 'INCONSISTENT_GROUP_PROTOCOL' });
    const refusal = ({ groupId }: GroupFacts) => new Error(`${groupId} is in use`);
    const membership = { protocol: 'p', userData: '', refusal };

    it('reports a refusal that comes after a first join that failed and is tried again', async () => {
      fixture = new Fixture({ membership });
      fixture.run = () => fixture.crashed(true);
      await fixture.consumer.start();
      fixture.crashed(false, refused);
      await fixture.until(() => fixture.fatal.length > 0);
      expect(fixture.fatal).toEqual([new Error('g is in use')]);
    });

    it('stops to join after the deadline, also if the group has no protocol for as long', async () => {
      fixture = new Fixture({ membership, connectTimeoutMs: 100 });
      fixture.run = () => fixture.crashed(false, refused);
      await expect(fixture.consumer.start()).rejects.toThrow('g is in use');
      expect(fixture.fatal).toEqual([]);
    });
  });

  it('logs that it waits for a member of its group that was killed', async () => {
    fixture = new Fixture();
    jest.useFakeTimers();
    let join: () => void = () => undefined;
    fixture.run = () => new Promise((resolve) => (join = resolve));
    const started = fixture.consumer.start();
    await jest.advanceTimersByTimeAsync(4_999);
    expect(fixture.lines).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    join();
    await started;
    expect(fixture.lines).toEqual([
      't: waiting to join consumer group g: a member has not left it. If it was killed, Kafka removes it within 10 s',
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('reports that members of its group read other topics', async () => {
    await running();
    fixture.assignedOtherTopics(['other']);
    expect(fixture.fatal).toMatchObject([
      { name: 'OtherTopicsError', message: expect.stringContaining('read other beside this one') },
    ]);
  });

  it('pauses all assigned partitions before the join event returns to kafkajs', async () => {
    fixture = new Fixture();
    await fixture.consumer.start();
    fixture.joined([0, 1, 2]);
    expect(fixture.log.at(-1)).toBe('pause 0,1,2');
  });

  it('seeks before it resumes, and resolves the offset of each batch that it takes', async () => {
    const { log } = await running();
    expect(log).toEqual(['connect', 'run', 'pause 0', 'assigned', 'seek 0', 'resume 0']);
    expect(await fixture.fetched(0, 0)).toBe('0');
  });

  it('continues a partition that the same member keeps, after the last taken batch', async () => {
    const { log } = await running();
    await fixture.fetched(0, 0);
    log.length = 0;
    fixture.joined([0, 1]);
    await fixture.until(() => log.includes('assigned'));
    expect(log.slice(0, 3)).toEqual(['pause 0,1', 'seek 1', 'resume 0']);
    expect(log).not.toContain('released');
  });

  it.each([
    ['is assigned under another member id', [0], 'n'],
    ['was lost and is assigned again', [1], 'm'],
  ])('releases and starts again a partition that %s', async (_, partitions, memberId) => {
    const { log } = await running();
    fixture.joined(partitions, memberId);
    fixture.joined([0], memberId);
    await fixture.until(() => log.filter((entry) => entry === 'resume 0').length === 2);
    expect(log).toContain('released');
  });

  it.each([
    ['that is stale after a seek', 0, { isStale: () => true }],
    ['of a stopping consumer', 0, { isRunning: () => false }],
    ['of a partition that is not assigned', 1, {}],
  ])('does not take a batch %s', async (_, partition, more) => {
    await running();
    expect(await fixture.fetched(partition, 0, more)).toBeUndefined();
  });

  it('restarts the partition, and does not throw, after an error in the delivery', async () => {
    await running();
    const isStale = () => {
      throw new TypeError('a bug');
    };
    expect(await fixture.fetched(0, 0, { isStale })).toBeUndefined();
    await fixture.until(() => fixture.log.filter((entry) => entry === 'resume 0').length === 2);
    expect(fixture.lines.join()).toContain('a bug');
  });

  it('reports a fatal error when the consumer does not restart', async () => {
    await running();
    fixture.crashed(false);
    expect(fixture.fatal.map(({ message }) => message)).toEqual(['a crash']);
  });

  it('restarts after any number of crashes, until it is closed', async () => {
    await running();
    for (let crash = 1; crash <= 20; crash++) {
      expect(await fixture.mayRestart()).toBe(true);
      fixture.crashed(true);
    }
    expect(fixture.fatal).toEqual([]);
    await fixture.consumer.close();
    expect(await fixture.mayRestart()).toBe(false);
    fixture.crashed(false);
    expect(fixture.fatal).toEqual([]);
  });

  it('leaves no connection open when it fails to start', async () => {
    fixture = new Fixture();
    fixture.subscribe = () => Promise.reject(new Error('no such topic'));
    await expect(fixture.consumer.start()).rejects.toThrow('no such topic');
    expect(fixture.log).toEqual(['connect', 'disconnect', 'disconnect admin']);
  });

  it('starts no partition that is assigned while it closes', async () => {
    const { log, consumer } = await running();
    const closing = consumer.close();
    fixture.joined([0]);
    await closing;
    expect(consumer.health().partitions.size).toBe(0);
    expect(log.filter((entry) => entry === 'resume 0')).toHaveLength(1);
  });

  it('commits only offsets of its own partitions', async () => {
    const { log, consumer } = await running();
    await consumer.commit(
      new Map([
        [0, 5],
        [1, 7],
      ]),
    );
    await consumer.commit(new Map([[1, 7]]));
    expect(log.filter((entry) => entry.startsWith('commit'))).toEqual(['commit 0@5']);
  });

  it('commits no offset of an assignment that a later one has replaced', async () => {
    const { log, consumer } = await running();
    fixture.joined([1]);
    fixture.joined([0, 1]);
    await consumer.commit(new Map([[0, 5]]));
    expect(log.filter((entry) => entry.startsWith('commit'))).toEqual([]);
    await fixture.until(() => log.filter((entry) => entry === 'resume 0').length === 2);
    await consumer.commit(new Map([[0, 7]]));
    expect(log.filter((entry) => entry.startsWith('commit'))).toEqual(['commit 0@7']);
  });

  it('reports the time since the last fetch', async () => {
    fixture = new Fixture();
    expect(fixture.consumer.health().loopAgeMs).toBe(0);
    await fixture.running();
    await fixture.until(() => fixture.consumer.health().loopAgeMs > 20);
    const begun = performance.now();
    fixture.fetchedSome();
    const { loopAgeMs } = fixture.consumer.health();
    expect(loopAgeMs).toBeLessThanOrEqual(performance.now() - begun);
  });

  it('reports how long a partition has had work without finishing any', async () => {
    const { consumer } = await running();
    const stuckMs = () => consumer.health().partitions.get(0)?.stuckMs ?? NaN;
    expect(stuckMs()).toBe(0);
    let release: () => void = () => undefined;
    fixture.handled = new Promise((resolve) => (release = resolve));
    await fixture.fetched(0, 0);
    await fixture.until(() => stuckMs() > 20);
    release();
    await fixture.until(() => stuckMs() === 0);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { timed } from '../support/eventually.js';
import { until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { ProxiedIngest } from './proxied-ingest.js';

/** More than one transaction has (MAX_RESULTS_PER_TRANSACTION). */
const EVENTS = 2_500;

/**
 * When the process is killed: when the nth request of a kind (hangBefore) or the response to it
 * (hangAfter) is held back.
 */
const MOMENTS = [
  ['after the apply call in Redis, before the transaction', 'addPartitionsToTxn', 'hangBefore', 1],
  ['after its first results', 'produce', 'hangAfter', 1],
  ['after the first transaction, before the results of the second', 'produce', 'hangBefore', 2],
  ['between the results and the position', 'addOffsetsToTxn', 'hangBefore', 1],
  ['after the results and the position, before the commit', 'endTxn', 'hangBefore', 1],
  ['between the commit and its response', 'endTxn', 'hangAfter', 1],
] as const;

describe('ingest that is killed', () => {
  let ingest: ProxiedIngest;
  let service: RanklogProcess;
  let usual = 0;
  /** Starts the service; resolves when everything is published. */
  const start = async () => {
    service = await ingest.start();
    await ingest.published();
  };
  beforeAll(async () => {
    ingest = await ProxiedIngest.create({ partitions: 1 });
    await ingest.produce(1);
    usual = await timed(start);
  });
  beforeEach(async () => {
    if (service.exitCode !== null) await start(); // the previous row failed
  });
  afterAll(() => ingest.remove());

  /**
   * Sends events. Returns once the nth request of a kind, or its response, is held, and Redis has
   * applied some of the events.
   */
  const holdAt = async (
    api: keyof typeof KAFKA_API,
    action: 'hangBefore' | 'hangAfter',
    nth: number,
  ) => {
    const { instance, proxy, sent } = ingest;
    let seen = 0;
    const when = ({ body }: KafkaRequest) => body.includes(instance.name) && (seen += 1) === nth;
    const fault = proxy.onRequest(KAFKA_API[api], action, { when });
    await ingest.produce(EVENTS);
    await until(() => fault.isDone, 'the request to be held has been sent');
    if (action === 'hangAfter') await until(() => fault.executed === 1, 'Kafka has executed it');
    const applied = async () => (await instance.status.nextOffsets()).get(0) ?? 0;
    await until(async () => (await applied()) > sent, 'Redis has applied some of the events');
  };

  it.each(MOMENTS)('%s: the next start is not delayed', async (_when, api, action, nth) => {
    await holdAt(api, action, nth);
    service.kill('SIGKILL');
    await service.ended;
    // An open transaction times out after 15 s.
    expect(await timed(start)).toBeLessThan(Math.max(14_000, 5 * usual));
  });

  it('publishes every result exactly once, in the end', () => ingest.expectExactlyOnce());
});

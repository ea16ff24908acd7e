import { describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { logRange, partitionCount } from './log-ranges.js';

const UNKNOWN_TOPIC_OR_PARTITION = 3;
const LEADER_NOT_AVAILABLE = 5;
const NOT_LEADER = 6;
const SILENT = 0;
const TOPIC = 'scores';
const MISSING = 'rank-changes';
const RANGE = { start: 3, end: 3 };

/**
 * A Kafka where broker N leads partition N. It answers requests to broker 0, and for the metadata
 * of the missing topic, only when the test calls `speak`; after `refuse`, it answers
 * with these errors first.
 */
function fixture() {
  const log: string[] = [];
  const answers: (() => void)[] = [];
  let refusals: number[] = [];
  const silence = () => new Promise<void>((resolve) => answers.push(resolve));
  const broker = ({ nodeId }: { nodeId: number }) => {
    const responses = [{ topic: TOPIC, partitions: [{ partition: nodeId, offset: '3' }] }];
    const listOffsets = async () => {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw protocolErrors.createErrorFromCode(refusal);
      if (nodeId === SILENT) await silence();
      return { responses };
    };
    return Promise.resolve({ listOffsets });
  };
  const cluster = {
    connect: () => Promise.resolve(void log.push('connect')),
    disconnect: () => Promise.resolve(void log.push('disconnect')),
    addMultipleTargetTopics: async (topics: readonly string[]) => {
      if (!topics.includes(MISSING)) return;
      await silence();
      throw protocolErrors.createErrorFromCode(UNKNOWN_TOPIC_OR_PARTITION);
    },
    refreshMetadata: () => Promise.resolve(void log.push('refresh')),
    findTopicPartitionMetadata: () => [0, 1].map((id) => ({ partitionId: id, leader: id })),
    findBroker: broker,
  };
  const kafka = {
    [Symbol('private:Kafka:createCluster')]: () => ({ ...cluster }),
  } as unknown as Kafka;
  const count = () => partitionCount(kafka, MISSING);
  const look = (partition: number) => logRange(kafka, TOPIC, partition);
  const turn = () => new Promise(setImmediate);
  const refuse = (codes: number[]) => void (refusals = codes);
  return {
    log,
    count,
    look,
    turn,
    refuse,
    speak: () => answers.splice(0).forEach((answer) => answer()),
  };
}

describe('look-ups', () => {
  it('are answered by the other leaders while one leader is silent, even if these look-ups begin later', async () => {
    const { log, look, turn, speak } = fixture();
    const delayed = look(SILENT);
    expect(await look(1)).toEqual(RANGE);
    expect(await look(1)).toEqual(RANGE);
    await turn();
    expect(log).toEqual(['connect', 'refresh', 'refresh']);
    speak();
    expect(await delayed).toEqual(RANGE);
    await turn();
    expect(log.slice(3)).toEqual(['disconnect']);
  }, 5_000);

  it('open other connections after a failure, although a look-up still uses the old ones', async () => {
    const { log, look, turn, speak } = fixture();
    const delayed = look(SILENT);
    await expect(look(7)).rejects.toThrow(`Kafka has no partition 7 of ${TOPIC}`);
    expect(await look(1)).toEqual(RANGE);
    await turn();
    expect(log).toEqual(['connect', 'refresh', 'connect', 'refresh', 'disconnect']);
    speak();
    expect(await delayed).toEqual(RANGE);
    await turn();
    expect(log.slice(5)).toEqual(['disconnect']);
  }, 5_000);

  it('are repeated while the broker does not know yet that it is the leader', async () => {
    const { log, look, refuse } = fixture();
    refuse([NOT_LEADER, NOT_LEADER, LEADER_NOT_AVAILABLE]); // to the first two look-ups of a range
    expect(await look(1)).toEqual(RANGE);
    expect(log.filter((action) => action === 'refresh')).toHaveLength(3);
  }, 5_000);

  it('do not wait until Kafka says that another topic is missing', async () => {
    const { count, look, turn, speak } = fixture();
    const missing = count();
    await turn();
    expect(await look(1)).toEqual(RANGE);
    speak();
    expect(await missing).toBe(0);
  }, 5_000);
});

import { describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { lookAt } from './lookups.js';

const SILENT = 0;
const TOPIC = 'scores';
const RANGE = { start: 3, end: 3 };

/** A Kafka where broker N leads partition N; broker 0 answers when the test calls `speak`. */
function fixture() {
  const log: string[] = [];
  const answers: (() => void)[] = [];
  const broker = ({ nodeId }: { nodeId: number }) => {
    const responses = [{ topic: TOPIC, partitions: [{ partition: nodeId, offset: '3' }] }];
    const listOffsets = async () => {
      if (nodeId === SILENT) await new Promise<void>((resolve) => answers.push(resolve));
      return { responses };
    };
    return Promise.resolve({ listOffsets });
  };
  const cluster = {
    connect: () => Promise.resolve(void log.push('connect')),
    disconnect: () => Promise.resolve(void log.push('disconnect')),
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(void log.push('refresh')),
    findTopicPartitionMetadata: () => [0, 1].map((id) => ({ partitionId: id, leader: id })),
    findBroker: broker,
  };
  const kafka = { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka;
  const look = async (partition: number) =>
    (await lookAt(kafka, { topic: TOPIC, partition })).range;
  const turn = () => new Promise(setImmediate);
  return { log, look, turn, speak: () => answers.splice(0).forEach((answer) => answer()) };
}

describe('look-ups while one leader is silent', () => {
  it('are answered by the other leaders, also later ones', async () => {
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
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import type { BoardReader } from '#board-store';
import type { KafkaConnection } from '../../../src/infra/kafka.js';
import { LiveStreams } from '../../../src/query/live/live-streams.js';
import { TestInstance, until } from '../../support/instance.js';
import { SILENT } from '../../support/loggers.js';
import { EventReader } from './event-reader.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';

describe('the feed of all streams', () => {
  let instance: TestInstance;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
  });
  afterAll(() => instance.remove());

  it('reads new partitions of the rank changes, for clients that connect again', async () => {
    const service = await instance.start();
    const url = `${service.url}/v1/boards/arena/events`;
    const reader = await EventReader.open(url);
    await until(() => reader.lastId !== '', 'the stream is open');
    const topic = instance.topics.rankChanges;
    await instance.admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    await until(() => reader.ended, 'the stream ends');
    const again = await EventReader.open(url, reader.lastId);
    await until(() => again.lastId !== reader.lastId, 'the stream is open');
    expect([again.lastId, again.events]).toEqual(['0.0.0', []]);
    again.close();
  });

  it('refuses a stream that it would not feed, because it ended meanwhile', async () => {
    let answer: (standings: unknown) => void = () => undefined;
    const standings = new Promise((resolve) => (answer = resolve));
    let reads = 0;
    const reader = { standings: () => ((reads += 1), standings) } as unknown as BoardReader;
    const { kafka, topics } = instance;
    const connection = { kafka, topics } as KafkaConnection;
    const streams = new LiveStreams(connection, reader, SILENT, { queryStreams: 1 });
    const server = fastify({ forceCloseConnections: true });
    server.get('/', (_, reply) => streams.standings(reply, { board: 'arena', limit: 1 }));
    const url = await server.listen();
    const response = fetch(url);
    await until(() => reads === 1, 'the view is read');
    streams.beforeApplicationShutdown();
    answer({ view: 'all' });
    expect(await (await response).json()).toMatchObject({ code: 'LOG_UNAVAILABLE' });
    await server.close();
  });
});

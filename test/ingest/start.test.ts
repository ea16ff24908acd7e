import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { BOARDS } from './score-topic.js';

describe('a start', () => {
  let instance: TestInstance;
  let initial: NodeJS.ProcessEnv;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS);
    initial = { ...instance.env };
  });
  afterAll(() => instance.remove());
  const startWith = (env: NodeJS.ProcessEnv) => {
    Object.assign(instance.env, initial, env);
    return instance.spawn('start');
  };

  it.each([
    ['KAFKA_BROKERS', '127.0.0.1:1', 'Kafka at 127.0.0.1:1'],
    ['REDIS_URL', 'redis://127.0.0.1:1', 'Redis at redis://127.0.0.1:1'],
  ])(
    'waits for a server, then ends with exit code 3 and names %s',
    async (name, address, server) => {
      const service = startWith({ [name]: address, RANKLOG_START_TIMEOUT: '3s' });
      expect(await service.ended).toBe(3);
      expect(service.errors).toContain(`waiting for ${server}`);
      expect(service.errors).toContain(`${server} did not answer within 3 s`);
      expect(service.errors).toContain(`is ${name} right?`);
    },
  );

  it('ends with exit code 2 if the boards file is invalid, and gives the reason', async () => {
    const service = startWith({ RANKLOG_BOARDS: 'package.json' });
    expect(await service.ended).toBe(2);
    expect(service.errors).toContain('package.json');
    expect(service.errors).toContain('unknown field "name"');
  });

  it('ends with exit code 2 if a topic is missing, and names the command that creates it', async () => {
    const { rankChanges } = instance.topics;
    await instance.admin.deleteTopics({ topics: [rankChanges] });
    const service = startWith({});
    expect(await service.ended).toBe(2);
    expect(service.errors).toContain(
      `there is no topic ${rankChanges}; create what is missing with "ranklog topics"`,
    );
    await instance.run('topics');
  });

  it('ends at once with exit code 0 after SIGTERM, though Kafka does not answer', async () => {
    const proxy = await KafkaProxy.toBroker();
    try {
      proxy.freeze();
      const service = startWith({ KAFKA_BROKERS: proxy.broker });
      await until(() => proxy.connections > 0, 'it waits for an answer');
      const begin = performance.now();
      service.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(performance.now() - begin).toBeLessThan(20_000); // a start is allowed 2 minutes
      expect(service.errors).toContain('"stopped"');
    } finally {
      await proxy.close();
    }
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RankChangeSubscriber } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { BOARDS, event, expectRankChanges } from './score-topic.js';

const PARTITIONS = 4;
/** A session of a member in ms. */
const SESSION = { sessionTimeout: 6_000, heartbeatInterval: 500 };

describe('the consumer group of a ranklog', () => {
  let instances: TestInstance[];
  let instance: TestInstance;
  const closers: (() => Promise<unknown>)[] = [];

  async function create(env: NodeJS.ProcessEnv = {}): Promise<TestInstance> {
    const made = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    Object.assign(made.env, env);
    instances.push(made);
    return made;
  }

  beforeEach(async () => {
    instances = [];
    instance = await create();
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    for (const made of instances) await made.remove();
  });

  const produce = (from: number, to: number) =>
    instance.produce(
      Array.from({ length: to - from }, (_, index) => event(`player-${from + index}`)),
    );

  const assigned = ({ errors }: RanklogProcess) =>
    [...errors.matchAll(/assigned partitions ([^"]+)/g)].at(-1)?.[1];

  /** The score topic read by kafkajs, as ingest of the previous version joined its group. */
  async function joinAsPreviousVersion() {
    const { kafka, name, topics } = instance;
    const consumer = kafka.consumer({ groupId: name, ...SESSION });
    closers.push(() => consumer.disconnect());
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topic: topics.scoreEvents });
    await consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() });
    await joined;
    return consumer;
  }

  it('admits no other ranklog: the start of that ends with both values and the way out, and partitions stay', async () => {
    const service = await instance.start();
    const { name } = instance;
    const other = await create({ RANKLOG_GROUP: name, RANKLOG_START_TIMEOUT: '3s' });
    const refused = other.spawn('start');
    expect(await refused.ended).toBe(2);
    for (const variable of ['RANKLOG_TOPIC_PREFIX', 'RANKLOG_REDIS_PREFIX'])
      expect(refused.errors).toContain(`${variable} is ${name} there and ${other.name} here`);
    expect(refused.errors).toContain('another group (RANKLOG_GROUP)');
    expect(refused.errors).toContain('waiting to join the group'); // it may be a killed process
    expect(assigned(service)).toBe('0, 1, 2, 3');
    await produce(0, 40);
    await instance.published(40);
    await expectRankChanges(instance, 40);
  });

  it('is named after the topic prefix, unless the ranklog has stored another one', async () => {
    const group = `${instance.name}-former`;
    instance.env['RANKLOG_GROUP'] = group;
    const former = await instance.start();
    await produce(0, 40);
    const offsets = async (groupId: string) => {
      const topics = [instance.topics.scoreEvents];
      const [found] = await instance.admin.fetchOffsets({ groupId, topics });
      return found!.partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
    };
    await until(async () => (await offsets(group)) === 40, 'the former group has published');
    former.kill('SIGTERM');
    expect(await former.ended).toBe(0);

    delete instance.env['RANKLOG_GROUP'];
    const keys = await instance.redis.keys(`${instance.name}:*`);
    await instance.redis.unlink(...keys); // the definitions topic has the group, too
    const next = await instance.start();
    expect(next.errors).toContain(`going on with the stored consumer group \\"${group}\\"`);
    await produce(40, 80);
    await until(async () => (await offsets(group)) === 80, 'it goes on in the former group');
    const status = await instance.run('status', '--json', '--wait', '60');
    const { partitions } = JSON.parse(status) as { partitions: { published: number }[] };
    expect(partitions.reduce((sum, { published }) => sum + published, 0)).toBe(80);
    expect(await offsets(instance.name)).toBe(0);
    await expectRankChanges(instance, 80);

    const fresh = await create();
    delete fresh.env['RANKLOG_GROUP'];
    await fresh.start();
    await fresh.produce([event('ada')]);
    await fresh.published(1);
  });

  it('is joined when the processes of the previous version have left it, without a lost or repeated result', async () => {
    await produce(0, 40);
    const previous = await joinAsPreviousVersion();
    instance.env['RANKLOG_START_TIMEOUT'] = '1s';
    const early = instance.spawn('start');
    expect(await early.ended).toBe(3);
    expect(early.errors).toContain('processes of the previous version of this ranklog still run');

    instance.env['RANKLOG_START_TIMEOUT'] = '2m';
    const [one, two] = [instance.spawn('start'), instance.spawn('start')];
    await until(
      () => [one, two].every(({ errors }) => errors.includes('waiting to join the group')),
      'both wait',
    );
    const startup = await fetch(`${one.operations}/health/startup`);
    expect(await startup.text()).toContain('previous version');
    await previous.disconnect();
    await instance.published(40);
    await until(() => [one, two].every(({ errors }) => errors.includes('"running:')), 'both run');
    await expectRankChanges(instance, 40);
  });

  it('ends a start that waits for other members at a signal', async () => {
    await joinAsPreviousVersion();
    const waiting = instance.spawn('start');
    await until(() => waiting.errors.includes('waiting to join the group'), 'it waits');
    waiting.kill('SIGTERM');
    expect(await waiting.ended).toBe(0);
  });

  it('admits no subscriber, and ingest does not join the group of one', async () => {
    const { kafka, name, topics } = instance;
    const subscribe = () => {
      const options = { kafka, groupId: name, topicPrefix: name };
      const subscriber = new RankChangeSubscriber(options);
      closers.push(() => subscriber.stop());
      return { subscriber, started: subscriber.start(() => Promise.resolve()) };
    };
    const service = await instance.start();
    await expect(subscribe().started).rejects.toMatchObject({
      name: 'GroupInUseError',
      code: 'GROUP_IN_USE',
      message: expect.stringContaining(`reading ${topics.scoreEvents}`),
    });
    service.kill('SIGTERM');
    await service.ended;

    await subscribe().started;
    instance.env['RANKLOG_START_TIMEOUT'] = '1s';
    const ingest = instance.spawn('start');
    expect(await ingest.ended).toBe(2);
    expect(ingest.errors).toContain(`reading ${topics.rankChanges}`);
  });
});

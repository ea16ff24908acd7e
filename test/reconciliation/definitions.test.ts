import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { BoardReader, BoardStore, ContinuityStore, IdentityCheck, KeySpace } from '#board-store';
import { ScoreProducer } from '#client';
import { BoardRegistrar } from '../../src/registry/board-registrar.js';
import { DefinitionsTopic } from '../../src/registry/definitions-topic.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { RedisServer } from '../support/redis-server.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { HandPromotion } from './hand-promotion.js';

const SUM = '{ columns: [{ name: points }] }';
const BEST = '{ columns: [{ name: points, update: best }] }';
const file = (boards: Readonly<Record<string, string>>) =>
  `boards: { ${Object.entries(boards).map((board) => board.join(': ')).join(', ')} }`; // prettier-ignore
const PLAYERS = Array.from({ length: 12 }, (_, index) => `player-${index}`);

describe('the boards that are in force', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let service: RanklogProcess;
  let reader: BoardReader;
  let store: BoardStore;
  let definitions: DefinitionsTopic;
  let hand: HandPromotion;
  let sent = 0;

  beforeEach(async () => {
    sent = 0;
    own = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${own.port}` };
    const boards = file({ arena: SUM, other: SUM });
    instance = await TestInstance.create(boards, { partitions: 2, env });
    const keys = new KeySpace(instance.name);
    reader = new BoardReader(own.redis, keys);
    store = new BoardStore(own.redis, keys, { shards: 1 });
    const { kafka, admin, topics } = instance;
    definitions = new DefinitionsTopic(kafka, admin, topics.definitions, {
      log: SILENT,
      identity: new IdentityCheck({}),
    });
    hand = new HandPromotion(instance, own.redis);
    service = await instance.start();
  });
  afterEach(async () => {
    await instance.remove();
    await own.remove();
  });

  const score = async (delta: number, boards: readonly string[] = ['arena']) => {
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    const events = boards.flatMap((board) =>
      PLAYERS.map((playerId) => ({ board, playerId, delta })),
    );
    await producer.send(events);
    await producer.disconnect();
    sent += events.length;
    await instance.published(sent);
  };
  const writeBoards = (boards: Readonly<Record<string, string>>) =>
    writeFile(instance.env['RANKLOG_BOARDS'] ?? '', file(boards));
  const points = async (board = 'arena') => {
    const { entries } = await reader.standings(board, 'all', { offset: 0, limit: 100 });
    return entries.map(({ columns }) => Number(columns['points']));
  };
  const each = (value: number) => PLAYERS.map(() => value);
  const results = async () => {
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes).toHaveLength(sent);
    expect(new Set(changes.map(causeOf)).size).toBe(sent);
    return changes;
  };
  /** Waits until Kafka has the live generations of Redis, and those alone. */
  const recorded = () =>
    until(async () => {
      const { live } = await store.boards();
      const current = [...(await definitions.readAll()).values()].filter(({ definition }) => definition);
      const texts = (boards: Iterable<{ board: string; generation: string }>) =>
        [...boards].map(({ board, generation }) => `${board} ${generation}`).sort().join(); // prettier-ignore
      return texts(current) === texts(live.values());
    }, 'Kafka has what is live'); // prettier-ignore
  const restart = async (...args: string[]) => {
    service.kill('SIGKILL');
    await service.ended;
    service = await instance.start(...args);
  };
  const best = () => parseBoardsFile(file({ arena: BEST }), 'best')[0] as BoardDefinition;

  it('are in Kafka from their first registration on', async () => {
    const [current, { live }, promotions] = [await definitions.readAll(), await store.boards(), await store.promotions()]; // prettier-ignore
    expect(current).toEqual(new Map([...live].map(([board, of]) => [board, { ...of, since: promotions.get(board) }]))); // prettier-ignore
    await restart();
    expect(await store.boards()).toMatchObject({ live });
    expect(await definitions.readAll()).toEqual(current);
  });

  it.each(['while a process runs', 'before one starts'])(
    'come back when Redis is emptied %s, whatever the file says by then',
    async (when) => {
      await score(10, ['arena', 'other']);
      const before = await definitions.readAll();
      await writeBoards({ arena: BEST, late: SUM });
      await own.redis.flushall();
      if (when === 'before one starts') await restart();
      await score(1, ['arena', 'other']);

      expect((await reader.liveBoard('arena')).definition).toEqual(before.get('arena')?.definition);
      expect(await points()).toEqual(each(11));
      expect(await points('other')).toEqual(each(11));
      expect(await points('late')).toEqual([]);
      await results();
      expect(service.errors).toMatch(/arena.* differs in .*ranklog boards apply/);
      await recorded();
      const after = await definitions.readAll();
      expect([...after.keys()].sort()).toEqual(['arena', 'late', 'other']);
      expect(after.get('arena')?.since).toBeGreaterThan(before.get('arena')?.since ?? Infinity);
    },
  );

  it('come back when Redis is emptied and the file can not be read any more', async () => {
    await score(10);
    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', 'boards: none');
    await own.redis.flushall();
    await score(1);
    expect(await points()).toEqual(each(11));
    expect(service.errors).toContain('going on with the boards that the file had before');
  });

  it.each([
    ['one process', ['ingest,reconciliation']],
    ['the roles apart', ['ingest', 'reconciliation']],
  ])(
    'are what a Redis recovers to that comes back from before a promotion (%s)',
    async (_, roles) => {
      service.kill('SIGKILL');
      await service.ended;
      const processes: RanklogProcess[] = [];
      for (const role of roles) processes.push(await instance.start('--roles', role));
      await score(10);
      await score(4);
      await own.snapshot();
      const { generation } = await hand.promote(best());
      await recorded();
      await score(12);
      expect(await points()).toEqual(each(12));

      await own.kill();
      await own.startFromSnapshot();
      expect((await store.boards()).live.get('arena')?.generation).not.toBe(generation);
      await score(20);
      await until(async () => (await reader.recoveryTargets()).length === 0, 'all is recovered');

      expect(await points()).toEqual(each(20));
      expect((await reader.liveBoard('arena')).definition).toEqual(best());
      const changes = await results();
      const columns = changes.slice(-1).map(({ changes }) => changes[0]?.before?.columns);
      expect(columns).toEqual([{ points: '12' }]);
      expect(processes.map(({ errors }) => errors).join()).toContain(
        'shard 0 is from before the last change of board arena',
      );
      await recorded();
    },
  );

  it('are what a Redis recovers to that has lost nothing but a promotion, on the same server', async () => {
    await score(10);
    await score(4);
    const names = await own.redis.keys('*');
    const dumps = await Promise.all(names.map((name) => own.redis.dumpBuffer(name)));
    await hand.promote(best());
    await recorded();
    const restoring = own.redis.multi().flushall();
    for (const [index, name] of names.entries()) restoring.restore(name, 0, dumps[index] ?? '');
    await restoring.exec();
    await until(() => service.errors.includes('shard 0 has lost a change of its boards'), 'it is noticed'); // prettier-ignore
    await score(20);
    expect(await points()).toEqual(each(20));
    await results();
  });

  it('are in Kafka though their builder was killed between the promotion and its record', async () => {
    await score(10);
    await score(4);
    const { generation, since } = await hand.promote(best());
    await recorded();
    expect((await definitions.readAll()).get('arena')).toMatchObject({ generation, since });
    await until(() => service.errors.includes(`generation ${generation} is kept in Kafka now`), 'it is told'); // prettier-ignore
    await own.redis.flushall();
    await score(20);
    expect(await points()).toEqual(each(20));
    await results();
  });

  it('do not depend on records of the topic that can not be read', async () => {
    await score(10);
    const before = await definitions.readAll();
    await writeBoards({ arena: BEST, other: SUM });
    const producer = instance.kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner }); // prettier-ignore
    await producer.connect();
    const messages = [
      { key: 'arena', value: 'hello' },
      { key: 'arena', value: null },
      { key: 'nobody', value: '{}' },
      { key: 'other', value: '{"board":"arena","generation":"1","since":9000000000000000,"definition":null}' },
    ]; // prettier-ignore
    await producer.send({ topic: instance.topics.definitions, messages });
    await producer.disconnect();
    expect(await definitions.readAll()).toEqual(before);
    await own.redis.flushall();
    await score(1);
    expect(await points()).toEqual(each(11));
    expect(service.errors).toMatch(
      /definitions\/0\/\d+ is left out, as it is not a definition in force/,
    );
  });

  const newRegistrar = () => {
    const continuity = new ContinuityStore(own.redis, new KeySpace(instance.name), { shards: 1 });
    const unreadLog = () => Promise.resolve(new Map<number, number>());
    return new BoardRegistrar(
      { store, continuity, definitions, unreadLog, log: SILENT },
      instance.env['RANKLOG_BOARDS'] ?? '',
    );
  };

  it('are what a board is known by again that a cancelled apply has made unknown', async () => {
    await score(1);
    await writeBoards({ arena: SUM, other: SUM, cup: BEST });
    const registrar = newRegistrar();
    await registrar.register();
    await hand.forget('cup');
    const { building, removed } = await store.boards();
    expect([building, removed]).toEqual([new Set(), new Set()]);
    await registrar.keepRegistered();
    expect((await store.boards()).building).toEqual(new Set(['cup']));
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'cup', 'other']);
  });

  it('are by the first of two files that define a new board otherwise, as in a rolling deploy, and stay so', async () => {
    await score(10);
    const folder = path.dirname(instance.env['RANKLOG_BOARDS'] ?? '');
    const processes: RanklogProcess[] = [];
    for (const [name, cup] of Object.entries({ old: SUM, new: BEST })) {
      instance.env['RANKLOG_BOARDS'] = path.join(folder, `${name}.yaml`);
      await writeBoards({ arena: SUM, other: SUM, cup });
      processes.push(instance.spawn('start'));
    }
    const said = () => processes.map(({ errors }) => errors).join();
    await until(() => /cup.* differs in .*ranklog boards apply/.test(said()), 'one is told'); // prettier-ignore
    await until(async () => (await store.boards()).live.has('cup'), 'the board is live');
    const built = (await store.boards()).live.get('cup');
    await score(7, ['cup']);
    await score(9, ['cup']);
    expect(await points('cup')).toEqual(
      each(built?.definition.columns[0]?.update === 'sum' ? 16 : 9),
    );
    await restart();
    expect((await store.boards()).live.get('cup')).toEqual(built);
    const generations = JSON.parse(await instance.run('boards', 'generations', '--json')) as { board: string }[]; // prettier-ignore
    expect(generations.filter(({ board }) => board === 'cup')).toMatchObject([{ role: 'live' }]);
    await results();
  });

  it('are no more what a board is built by that was removed, and comes back by another one', async () => {
    const registrar = newRegistrar();
    await registrar.register();
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'other']);
    await hand.remove('other');
    await registrar.keepRegistered();
    expect([...registrar.wanted.keys()]).toEqual(['arena']);
  });

  it('lack one that was removed, also when a process starts whose file has it still', async () => {
    await score(10);
    await hand.remove('other');
    await until(
      async () => (await definitions.readAll()).get('other')?.definition === null,
      'Kafka has the removal',
    );
    await own.redis.flushall();
    await score(1);
    expect([...(await store.boards()).live.keys()]).toEqual(['arena']);
    expect((await store.boards()).removed).toEqual(new Set(['other']));
    await restart();
    const { live, building } = await store.boards();
    expect([...live.keys(), ...building]).toEqual(['arena']);
    expect(await readFile(instance.env['RANKLOG_BOARDS'] ?? '', 'utf8')).toContain('other');
    expect(service.errors).toContain('was removed, and stays so until');
  });
});

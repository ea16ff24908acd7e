import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { BoardReader, ContinuityStore, type BoardStore } from '#board-store';
import { ScoreProducer } from '#client';
import { BoardRegistrar } from '../../src/registry/board-registrar.js';
import type { DefinitionsTopic } from '../../src/registry/definitions-topic.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { RedisServer } from '../support/redis-server.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { Sandbox, UNTIL_DONE } from './sandbox.js';

const SUM = '{ columns: [{ name: points }] }';
const BEST = '{ columns: [{ name: points, update: best }] }';
const file = (boards: Readonly<Record<string, string>>) =>
  `boards: { ${Object.entries(boards).map((board) => board.join(': ')).join(', ')} }`; // prettier-ignore
const PLAYERS = Array.from({ length: 12 }, (_, index) => `player-${index}`);

describe('the definitions that are in force', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let service: RanklogProcess;
  let reader: BoardReader;
  let store: BoardStore;
  let definitions: DefinitionsTopic;
  let sandbox: Sandbox;
  /** Changes what is live, and does not record it in Kafka. */
  let unrecorded: Sandbox;
  let sent = 0;

  beforeEach(async () => {
    sent = 0;
    own = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${own.port}` };
    const boards = file({ arena: SUM, other: SUM });
    instance = await TestInstance.create(boards, { partitions: 2, env });
    sandbox = new Sandbox(instance, own.redis);
    ({ store, definitions } = sandbox);
    reader = new BoardReader(own.redis, sandbox.keys);
    unrecorded = new Sandbox(instance, own.redis);
    unrecorded.definitions.write = () => Promise.resolve();
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
  const [best] = parseBoardsFile(file({ arena: BEST }), 'best') as [BoardDefinition];
  const promoteBest = async () => {
    const [report] = await unrecorded.reconciler.build([best], { signal: UNTIL_DONE });
    return report!;
  };
  const removeOther = () => unrecorded.reconciler.remove('other', { signal: UNTIL_DONE });

  it('are in Kafka from their first registration on', async () => {
    const [current, { live }, promotions] = [await definitions.readAll(), await store.boards(), await store.promotions()]; // prettier-ignore
    expect(current).toEqual(new Map([...live].map(([board, of]) => [board, { ...of, since: promotions.get(board) }]))); // prettier-ignore
    await restart();
    expect(await store.boards()).toMatchObject({ live });
    expect(await definitions.readAll()).toEqual(current);
  });

  it.each(['while a process runs', 'before one starts'])(
    'are restored after Redis is emptied %s, whatever the boards file says by then',
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

  it('are restored after Redis is emptied, also if the boards file is broken', async () => {
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
  ])('are restored in a Redis that comes back from before a promotion (%s)', async (_, roles) => {
    service.kill('SIGKILL');
    await service.ended;
    const processes: RanklogProcess[] = [];
    for (const role of roles) processes.push(await instance.start('--roles', role));
    await score(10);
    await score(4);
    await own.snapshot();
    const { generation } = await promoteBest();
    await recorded();
    await score(12);
    expect(await points()).toEqual(each(12));

    await own.kill();
    await own.startFromSnapshot();
    expect((await store.boards()).live.get('arena')?.generation).not.toBe(generation);
    await score(20);
    await until(async () => (await reader.recoveryTargets()).length === 0, 'all is recovered');

    expect(await points()).toEqual(each(20));
    expect((await reader.liveBoard('arena')).definition).toEqual(best);
    const changes = await results();
    const columns = changes.slice(-1).map(({ changes }) => changes[0]?.before?.columns);
    expect(columns).toEqual([{ points: '12' }]);
    expect(processes.map(({ errors }) => errors).join()).toContain(
      'shard 0 is from before the last change of board arena',
    );
    await recorded();
  });

  it('are restored after the same server has lost nothing but a promotion', async () => {
    await score(10);
    await score(4);
    const names = await own.redis.keys('*');
    const dumps = await Promise.all(names.map((name) => own.redis.dumpBuffer(name)));
    await promoteBest();
    await recorded();
    const restoring = own.redis.multi().flushall();
    for (const [index, name] of names.entries()) restoring.restore(name, 0, dumps[index] ?? '');
    await restoring.exec();
    await until(() => service.errors.includes('shard 0 has lost a change of its boards'), 'it is noticed'); // prettier-ignore
    await score(20);
    expect(await points()).toEqual(each(20));
    await results();
  });

  it('are recorded in Kafka after their builder was killed between the promotion and its record', async () => {
    await score(10);
    await score(4);
    const { generation, since } = await promoteBest();
    await recorded();
    expect((await definitions.readAll()).get('arena')).toMatchObject({ generation, since });
    await until(() => service.errors.includes(`generation ${generation} is kept in Kafka now`), 'it is told'); // prettier-ignore
    await own.redis.flushall();
    await score(20);
    expect(await points()).toEqual(each(20));
    await results();
  });

  const newRegistrar = () => {
    const continuity = new ContinuityStore(own.redis, sandbox.keys, { shards: 1 });
    const unreadLog = () => Promise.resolve(new Map<number, number>());
    return new BoardRegistrar(
      { store, continuity, definitions, unreadLog, log: SILENT },
      instance.env['RANKLOG_BOARDS'] ?? '',
    );
  };

  it('are registered again after a cancelled apply, and lose a board that is removed', async () => {
    await score(1);
    await writeBoards({ arena: SUM, other: SUM, cup: BEST });
    const registrar = newRegistrar();
    await registrar.register();
    const lease = await sandbox.leases.acquire('cup', 'test');
    await sandbox.generations.unregister(lease);
    await sandbox.leases.release(lease);
    const { building, removed } = await store.boards();
    expect([building, removed]).toEqual([new Set(), new Set()]);
    await registrar.keepRegistered();
    expect((await store.boards()).building).toEqual(new Set(['cup']));
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'cup', 'other']);
    await removeOther();
    await registrar.keepRegistered();
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'cup']);
  });

  it('are those of the first process if two define a new board differently, as in a rolling deploy', async () => {
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

  it('lack a removed board, also when a process starts whose file still has it', async () => {
    await score(10);
    await removeOther();
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

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { BoardReader, ContinuityStore, UnknownBoardError, type BoardStore } from '#board-store';
import { encodeDefinitionRecord } from '#contracts';
import { loadSettings } from '../../src/config/settings.js';
import { BoardRegistrar } from '../../src/reconciliation/boards/board-registrar.js';
import type { DefinitionsTopic } from '../../src/infra/definitions-topic.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { RedisServer } from '../support/redis-server.js';
import { causeOf, readDeadLetters, readRankChanges } from '../support/results.js';
import { RUN, Sandbox } from './sandbox.js';

const SUM = '{ columns: [{ name: points }] }';
const BEST = '{ columns: [{ name: points, update: best }] }';
const file = (boards: Readonly<Record<string, string>>) =>
  `boards: { ${Object.entries(boards)
    .map((board) => board.join(': '))
    .join(', ')} }`;
const PLAYERS = Array.from({ length: 12 }, (_, index) => `player-${index}`);

describe('the live definitions', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let service: RanklogProcess;
  let reader: BoardReader;
  let store: BoardStore;
  let definitions: DefinitionsTopic;
  let sandbox: Sandbox;
  /** A sandbox that promotes and removes boards without writing definition records to Kafka. */
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
    reader = new BoardReader({ redis: own.redis, prefix: sandbox.keys.prefix });
    unrecorded = new Sandbox(instance, own.redis);
    unrecorded.definitions.write = () => Promise.resolve();
    service = await instance.start();
  });
  afterEach(async () => {
    await instance.remove();
    await own.remove();
  });

  const score = async (delta: number, boards: readonly string[] = ['arena']) => {
    const events = boards.flatMap((board) =>
      PLAYERS.map((playerId) => ({ board, playerId, delta })),
    );
    await instance.produce(events.map((event) => JSON.stringify(event)));
    sent += events.length;
    await instance.published(sent);
  };
  const writeBoards = (boards: Readonly<Record<string, string>>) =>
    writeFile(instance.env['RANKLOG_BOARDS'] ?? '', file(boards));
  const points = async (board = 'arena') => {
    const { entries } = await reader.standings(board, { view: 'all', limit: 100 });
    return entries.map(({ columns }) => Number(columns['points']));
  };
  const each = (value: number) => PLAYERS.map(() => value);
  /** Reads the rank changes; expects one for each of `events` events. */
  const results = async (events = sent) => {
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes).toHaveLength(events);
    expect(new Set(changes.map(causeOf)).size).toBe(events);
    return changes;
  };
  /** Waits until Kafka has the live generations of Redis, and those alone. */
  const recorded = () =>
    until(async () => {
      const { live } = await store.boards();
      const current = [...(await definitions.readAll()).values()].filter(({ definition }) => definition);
      const texts = (boards: Iterable<{ board: string; generation: string }>) =>
        [...boards].map(({ board, generation }) => `${board} ${generation}`).sort().join();
      return texts(current) === texts(live.values());
    }, 'Kafka has what is live'); // prettier-ignore
  const restart = async (...args: string[]) => {
    service.kill('SIGKILL');
    await service.ended;
    service = await instance.start(...args);
  };
  const [best] = parseBoardsFile(file({ arena: BEST }), 'best') as [BoardDefinition];
  const promoteBest = async () => {
    const [report] = await unrecorded.reconciler.build([best], RUN);
    return report!;
  };
  const liveAndBuilding = async () => {
    const { live, building } = await store.boards();
    return [...live.keys(), ...building];
  };

  it('are in Kafka from their first registration on, and restored after Redis is emptied, whatever the boards file says by then', async () => {
    const [current, { live }, promotions] = [
      await definitions.readAll(),
      await store.boards(),
      await store.promotions(),
    ];
    expect(current).toEqual(
      new Map([...live].map(([board, of]) => [board, { ...of, since: promotions.get(board) }])),
    );
    await score(10, ['arena', 'other']);
    await restart();
    expect(await store.boards()).toMatchObject({ live });
    expect(await definitions.readAll()).toEqual(current);

    await writeBoards({ arena: BEST, late: SUM });
    for (const [restarts, total] of [
      [false, 11],
      [true, 12],
    ] as const) {
      // prettier-ignore
      const before = await definitions.readAll();
      await own.redis.flushall();
      if (restarts) await restart();
      await score(1, ['arena', 'other']);
      expect((await reader.board('arena')).definition).toEqual(live.get('arena')?.definition);
      expect(await points()).toEqual(each(total));
      expect(await points('other')).toEqual(each(total));
      expect(await points('late')).toEqual([]);
      expect(service.errors).toMatch(/arena.* differs in .*ranklog boards apply/);
      await recorded();
      const after = await definitions.readAll();
      expect([...after.keys()].sort()).toEqual(['arena', 'late', 'other']);
      expect(after.get('arena')?.since).toBeGreaterThan(before.get('arena')?.since ?? Infinity);
    }

    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', 'boards: none');
    await own.redis.flushall();
    await score(1);
    expect(await points()).toEqual(each(13));
    expect(service.errors).toContain('going on with the boards that the file had before');
    await results();
  });

  it('are restored in a Redis that returns with a snapshot from before a promotion, with the roles in separate processes', async () => {
    await restart('--roles', 'ingest');
    const builder = await instance.start('--roles', 'reconciliation');
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
    const continuity = new ContinuityStore(own.redis, sandbox.keys, { shards: 1 });
    await until(async () => (await continuity.recoveryTargets()).length === 0, 'all is recovered');

    expect(await points()).toEqual(each(20));
    expect((await reader.board('arena')).definition).toEqual(best);
    const changes = await results();
    const columns = changes.slice(-1).map(({ changes }) => changes[0]?.before?.columns);
    expect(columns).toEqual([{ points: '12' }]);
    expect(service.errors + builder.errors).toContain(
      'shard 0 is from before the last change of board arena',
    );
    await recorded();
  });

  it('are recorded in Kafka if their builder does not do it, and restored in a server that has lost nothing but a promotion', async () => {
    await score(10);
    await score(4);
    const names = await own.redis.keys('*');
    const dumps = await Promise.all(names.map((name) => own.redis.dumpBuffer(name)));
    const { generation, since } = await promoteBest();
    await recorded();
    expect((await definitions.readAll()).get('arena')).toMatchObject({ generation, since });
    await until(
      () => service.errors.includes(`generation ${generation} is written to Kafka now`),
      'it is logged',
    );
    const restoring = own.redis.multi().flushall();
    for (const [index, name] of names.entries()) restoring.restore(name, 0, dumps[index] ?? '');
    await restoring.exec();
    await until(
      () => service.errors.includes('shard 0 has lost a promotion or removal'),
      'it is noticed',
    );
    await score(20);
    expect(await points()).toEqual(each(20));
    await results();
  });

  it('wait if Redis has lost them and another version wrote a record that can not be read, until an apply, and the other boards go on', async () => {
    await score(10, ['arena', 'other']);
    const { value, ...others } = encodeDefinitionRecord(
      { ...(await definitions.readAll()).get('arena')!, since: Date.now() * 1_000 },
      instance.topics.definitions,
    );
    const messages = [{ ...others, value: value.replace('"ties"', '"tiesOfVersion2"') }];
    const producer = instance.kafka.producer();
    await producer.connect();
    await producer.send({ topic: instance.topics.definitions, messages });
    await producer.disconnect();
    await writeBoards({ arena: BEST, other: SUM });
    await restart();
    expect((await store.boards()).live.get('arena')?.definition.columns[0]?.update).toBe('sum');

    await own.redis.flushall();
    await score(1, ['arena', 'other']);
    expect(await points('other')).toEqual(each(11));
    const { live, building } = await store.boards();
    expect([[...live.keys()], building]).toEqual([['other'], new Set(['arena'])]);
    expect(await readDeadLetters(instance.kafka, instance.topics)).toEqual([]);
    expect(service.errors).toMatch(
      /board \\"arena\\" waits, and so do its events: .* offset \d+ is not a .*does not know/,
    );
    const doctor = instance.spawn('doctor');
    expect(await doctor.ended).toBe(0);
    expect(doctor.output).toMatch(/^Definitions +warning +board "arena": \S+ offset \d+ is not /m);

    await instance.run('boards', 'apply', '--yes');
    expect((await reader.board('arena')).definition.columns[0]?.update).toBe('best');
    await score(20);
    expect(await points()).toEqual(each(20));
  });

  it('lack a removed board also when its lease could not be released, and that failure hides no other', async () => {
    jest.spyOn(sandbox.leases, 'release').mockRejectedValue(new Error('the connection is closed'));
    await sandbox.reconciler.remove('other', RUN);
    expect((await definitions.readAll()).get('other')?.definition).toBeNull();
    await expect(sandbox.reconciler.remove('unknown', RUN)).rejects.toThrow(UnknownBoardError);
    expect(sandbox.words).toContainEqual(
      expect.stringContaining('could not release the lease of board "unknown"'),
    );
  });

  it('are registered again after a cancelled apply, and lack a removed board, also when Redis is emptied and the file has the board', async () => {
    await score(1);
    await writeBoards({ arena: SUM, other: SUM, cup: BEST });
    const continuity = new ContinuityStore(own.redis, sandbox.keys, { shards: 1 });
    const registrar = new BoardRegistrar({ store, continuity }, definitions, instance, {
      settings: loadSettings(instance.env).settings,
      logger: SILENT,
    });
    await registrar.register();
    const lease = await sandbox.leases.acquire('cup', 'test');
    await sandbox.generations.remove(lease, { unregisters: true });
    await sandbox.leases.release(lease);
    const { building, removed } = await store.boards();
    expect([building, removed]).toEqual([new Set(), new Set()]);
    await registrar.keepRegistered();
    expect((await store.boards()).building).toEqual(new Set(['cup']));
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'cup', 'other']);

    await unrecorded.reconciler.remove('other', RUN);
    await registrar.keepRegistered();
    expect([...registrar.wanted.keys()].sort()).toEqual(['arena', 'cup']);
    await until(
      async () => (await definitions.readAll()).get('other')?.definition === null,
      'Kafka has the removal',
    );
    await writeBoards({ arena: SUM, other: SUM });
    await own.redis.flushall();
    await score(1);
    expect([...(await store.boards()).live.keys()]).toEqual(['arena']);
    expect((await store.boards()).removed).toEqual(new Set(['other']));
    await restart();
    expect(await liveAndBuilding()).toEqual(['arena']);
    expect(service.errors).toContain('was removed, and stays so until');
  });

  it('are those of the first process if two define a new board differently, as in a rolling deploy', async () => {
    await score(10);
    await score(3, ['cup']); // dead letters, until the board is in the file
    const folder = path.dirname(instance.env['RANKLOG_BOARDS'] ?? '');
    const processes: RanklogProcess[] = [];
    for (const [name, cup] of Object.entries({ old: SUM, new: BEST })) {
      instance.env['RANKLOG_BOARDS'] = path.join(folder, `${name}.yaml`);
      await writeBoards({ arena: SUM, other: SUM, cup });
      processes.push(instance.spawn('start'));
    }
    const said = () => processes.map(({ errors }) => errors).join();
    await until(() => /cup.* differs in .*ranklog boards apply/.test(said()), 'one warns');
    await until(() => /cup\S+ is live .* built from 24 records/.test(said()), 'it is built');
    const built = (await store.boards()).live.get('cup');
    await score(7, ['cup']);
    await score(9, ['cup']);
    expect(await points('cup')).toEqual(
      each(built?.definition.columns[0]?.update === 'sum' ? 19 : 9),
    );
    await restart();
    expect((await store.boards()).live.get('cup')).toEqual(built);
    const generations = JSON.parse(await instance.run('boards', 'generations', '--json')) as {
      board: string;
    }[];
    expect(generations.filter(({ board }) => board === 'cup')).toMatchObject([{ role: 'live' }]);
    await results(sent - PLAYERS.length);
  });
});

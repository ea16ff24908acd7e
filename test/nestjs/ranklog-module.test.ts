import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Inject, Injectable, Logger, Module, Scope, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Cluster, Redis } from 'ioredis';
import type { ConsumerConfig, ProducerConfig } from 'kafkajs';
import {
  BoardReader,
  ModerationProducer,
  OnDeadLetter,
  OnLeaderChange,
  OnPeriodClosed,
  OnRankChange,
  RankChangeSubscriber,
  RanklogHealth,
  RanklogModule,
  ScoreProducer,
  TopicsMissingError,
  type DeadLetterRecord,
  type LeaderChange,
  type PeriodResult,
  type RankChange,
  type RanklogModuleOptions,
} from '#nestjs';
import { TestInstance, until } from '../support/instance.js';
import { testKafka } from '../support/kafka-client.js';
import { announce, weekResult } from '../support/period-results.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }], windows: [all, week], publish: { leaders: 3 } }
  golf: { columns: [{ name: points }], publish: { leaders: 3 } }
`;

/** What the handlers got. Each test begins with none. */
const got = {
  all: [] as RankChange[],
  weeks: [] as RankChange[],
  golf: [] as RankChange[],
  leaders: [] as LeaderChange[],
  periods: [] as PeriodResult[],
  letters: [] as DeadLetterRecord[],
};

@Injectable()
class Badges {
  constructor(@Inject(BoardReader) readonly reader: BoardReader) {}

  @OnRankChange()
  all(change: RankChange): void {
    got.all.push(change);
  }

  @OnRankChange({ board: 'arena', view: /^week:/ })
  async weeks(change: RankChange): Promise<void> {
    await this.reader.player(change.board, change.playerId);
    got.weeks.push(change);
  }
}

@Controller()
class Pages {
  @OnRankChange({ board: 'golf', view: 'all', groupId: 'golf-pages' })
  golf(change: RankChange): void {
    got.golf.push(change);
  }

  @OnLeaderChange({ board: 'arena', view: 'all' })
  leaders(change: LeaderChange): void {
    got.leaders.push(change);
  }
}

@Injectable()
class Prizes {
  @OnPeriodClosed({ board: 'weekly', view: /^week:\S+$/ })
  pay(result: PeriodResult): void {
    got.periods.push(result);
  }
}

@Injectable()
class Alerts {
  @OnDeadLetter({ code: 'UNKNOWN_COLUMN' })
  alert(letter: DeadLetterRecord): void {
    got.letters.push(letter);
  }
}

@Injectable()
class Broken {
  @OnRankChange()
  fail(): never {
    throw new Error('no database');
  }
}

@Injectable()
class Misspelt {
  @OnRankChange({ board: 'arenna' })
  handle(): void {
    got.all.length = 0;
  }

  @OnLeaderChange({ board: 'arena', view: 'week' })
  handleWeek(): void {
    got.all.length = 0;
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  @OnRankChange()
  handle(change: RankChange): RankChange {
    return change;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class PerUser {
  @OnRankChange()
  handle(change: RankChange): RankChange {
    return change;
  }
}

let instance: TestInstance;
const closers: (() => Promise<void>)[] = [];
let group = 0;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  await instance.start();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  for (const list of Object.values(got)) list.length = 0;
});
afterAll(() => instance.remove());

function optionsOf(): RanklogModuleOptions {
  const { kafka, redis, name } = instance;
  const names = { topicPrefix: name, redisPrefix: name, ranklogGroup: name };
  return { kafka, redis, ...names, groupId: `${name}-${String(++group)}` };
}

/** Starts an application. It closes after the test. */
async function start(
  module: ReturnType<typeof RanklogModule.forRoot>,
  ...classes: readonly Type[]
) {
  const providers = classes.filter((one) => one !== Pages);
  const controllers = classes.filter((one) => one === Pages);
  const built = await Test.createTestingModule({
    imports: [module],
    providers,
    controllers,
  }).compile();
  built.useLogger(false);
  // the producer alone if `init` fails: then `close` fails, too
  closers.push(() => built.get(ScoreProducer).disconnect());
  await built.init();
  closers.splice(-1, 1, () => built.close());
  return built;
}

const arena = (playerId: string) => ({ board: 'arena', playerId, delta: '5' });

describe('RanklogModule', () => {
  it('provides a connected producer and a reader', async () => {
    const app = await start(RanklogModule.forRoot(optionsOf()));
    const outcome = await app.get(ScoreProducer).sendAndWait(arena('ada'), { timeoutMs: 60_000 });
    expect(outcome.status).toBe('ranked');
    const { entries } = await app.get(BoardReader).standings('arena');
    expect(entries).toMatchObject([{ playerId: 'ada', columns: { points: '5' } }]);
  });

  it('provides a producer of bans, whose rank changes reach handlers', async () => {
    const app = await start(RanklogModule.forRoot(optionsOf()), Badges);
    const player = { board: 'golf', playerId: 'mal' };
    await app.get(ScoreProducer).sendAndWait({ ...player, delta: '5' }, { timeoutMs: 60_000 });
    const moderation = app.get(ModerationProducer);
    const ban = { ...player, reason: 'speed hack' };
    expect(await moderation.banAndWait(ban, { timeoutMs: 60_000 })).toMatchObject({ counts: true });
    expect(await app.get(BoardReader).player('golf', 'mal')).toMatchObject({ standing: null });
    await until(() => got.all.length === 2, 'the ban is handled');
    expect(got.all.at(-1)).toMatchObject({
      ...player,
      changes: [{ view: 'all', before: { columns: { points: '5' } }, after: null }],
    });
    const { reader } = instance;
    expect(await reader.ban('golf', 'mal')).toMatchObject({ kind: 'banned', reason: 'speed hack' });
    await moderation.unbanAndWait(player, { timeoutMs: 60_000 });
    const back = await app.get(BoardReader).player('golf', 'mal');
    expect(back.standing?.columns).toEqual({ points: '5' });
  });

  it('gives handlers the results that their filters let through', async () => {
    const { groupId = '', ...rest } = optionsOf();
    const useFactory = () => ({ ...rest, groupId });
    const app = await start(RanklogModule.forRootAsync({ useFactory }), Badges, Pages);
    await app
      .get(ScoreProducer)
      .send([arena('bob'), { board: 'golf', playerId: 'bob', delta: '1' }, arena('cyd')]);
    const done = () => got.all.length === 3 && got.weeks.length === 2 && got.golf.length === 1;
    await until(() => done() && got.leaders.length > 0, 'all handlers have their results');
    expect(got.all.map(({ changes }) => changes.length).sort()).toEqual([1, 2, 2]);
    for (const { changes } of got.weeks)
      expect(changes).toEqual([expect.objectContaining({ view: expect.stringMatching('^week:') })]);
    expect(got.golf).toMatchObject([{ board: 'golf', playerId: 'bob' }]);
    expect(new Set(got.leaders.map(({ board, view }) => `${board} ${view}`))).toEqual(
      new Set(['arena all']),
    );
    expect(await membersOf(`${groupId}.rank-changes`)).toBe(1);
    expect(await membersOf('golf-pages.rank-changes')).toBe(1);
    expect(await membersOf(`${groupId}.leader-changes`)).toBe(1);
  });

  it('leaves the groups and disconnects the producer when the application closes', async () => {
    const { groupId = '', ...rest } = optionsOf();
    const app = await start(RanklogModule.forRoot({ ...rest, groupId }), Badges);
    const producer = app.get(ScoreProducer);
    await app.close();
    closers.length = 0;
    expect(await membersOf(`${groupId}.rank-changes`)).toBe(0);
    await expect(producer.send([arena('dan')])).rejects.toThrow('disconnected');
    expect(await instance.redis.ping()).toBe('PONG');
  });

  it('gives handlers no result after their class was destroyed', async () => {
    const events: string[] = [];
    let isClosing = false;
    @Injectable()
    class Slow {
      @OnRankChange()
      async handle(): Promise<void> {
        if (!isClosing) events.push('entered');
        await until(() => isClosing, 'the application closes');
        await new Promise(setImmediate);
        events.push('handled');
      }

      onModuleDestroy(): void {
        events.push('destroyed');
      }
    }
    @Module({ providers: [Slow], exports: [Slow] })
    class SlowModule {}
    const built = await Test.createTestingModule({
      imports: [RanklogModule.forRoot(optionsOf()), SlowModule],
      providers: [{ provide: 'slow', inject: [Slow], useFactory: (slow: Slow) => ({ slow }) }],
    }).compile();
    built.useLogger(false);
    await built.init();
    await built.get(ScoreProducer).send([arena('fay')]);
    await until(() => events.length > 0, 'the handler runs');
    isClosing = true;
    await built.close();
    expect(events).toEqual(['entered', 'handled', 'destroyed']);
  });

  it('gives handlers the results of closed windows, by the group GROUP.period-results', async () => {
    const { kafka, admin, topics } = instance;
    const options = optionsOf();
    await start(RanklogModule.forRoot(options), Prizes);
    const guild = weekResult({ ada: 3 }, { view: 'week:2026-W47 guild=owls' });
    const golf = weekResult({ ada: 3 }, { board: 'golf' });
    const week = weekResult({ ada: 9, bob: 3 });
    await announce(kafka, topics, [guild, golf, week]);
    await until(() => got.periods.length > 0, 'the result has come');
    expect(got.periods).toEqual([week]);
    const groupId = `${options.groupId ?? ''}.period-results`;
    expect(await membersOf(groupId)).toBe(1);
    const isCommitted = async () => {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topics.periodResults] });
      return Number(found?.partitions[0]?.offset) >= 3;
    };
    await until(isCommitted, 'the position is committed');
  });

  it('gives handlers dead letters, by the group GROUP.dead-letters', async () => {
    const options = optionsOf();
    const app = await start(RanklogModule.forRoot(options), Alerts);
    const unknown = { board: 'none', playerId: 'ada', delta: '5' };
    const wrong = { board: 'arena', playerId: 'ada', deltas: { goals: '5' } };
    await app.get(ScoreProducer).send([unknown, wrong]);
    await until(() => got.letters.length > 0, 'the dead letter has come');
    expect(got.letters).toEqual([expect.objectContaining({ code: 'UNKNOWN_COLUMN' })]);
    expect(JSON.parse(String(got.letters[0]?.value))).toEqual(wrong);
    expect(await membersOf(`${options.groupId ?? ''}.dead-letters`)).toBe(1);
  });

  it('gives a method with several decorators the results of each', async () => {
    const boards: string[] = [];
    @Injectable()
    class Both {
      @OnRankChange({ board: 'arena' })
      @OnRankChange({ board: 'golf' })
      handle({ board }: RankChange): void {
        boards.push(board);
      }
    }
    const app = await start(RanklogModule.forRoot(optionsOf()), Both);
    const golf = { board: 'golf', playerId: 'gus', delta: '1' };
    await app.get(ScoreProducer).send([arena('gus'), golf]);
    await until(() => boards.length === 2, 'both are handled');
    expect(boards.sort()).toEqual(['arena', 'golf']);
  });

  it('sends before the application has bootstrapped, too', async () => {
    @Injectable()
    class Greeter {
      sent: Promise<unknown> = Promise.resolve();

      constructor(@Inject(ScoreProducer) private readonly producer: ScoreProducer) {}

      // Not awaited: the bootstrap connects meanwhile.
      onModuleInit(): void {
        const { producer } = this;
        this.sent = Promise.all([producer.send(arena('hal')), producer.send(arena('hal'))]);
      }
    }
    const app = await start(RanklogModule.forRoot(optionsOf()), Greeter);
    await app.get(Greeter).sent;
    await app.get(ScoreProducer).sendAndWait(arena('hal'), { timeoutMs: 60_000 });
    const { entries } = await instance.reader.standings('arena');
    const points = { points: '15' };
    expect(entries).toContainEqual(expect.objectContaining({ playerId: 'hal', columns: points }));
  });

  it('leaves nothing connected if the application or a subscriber fails to start', async () => {
    const { kafka, ...options } = optionsOf();
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    const events: string[] = [];
    const producer = (config?: ProducerConfig) => {
      const made = kafka.producer(config);
      made.on('producer.connect', () => events.push('connected'));
      made.on('producer.disconnect', () => events.push('disconnected'));
      return made;
    };
    const seen = Object.assign(testKafka({ brokers }), { producer });
    @Injectable()
    class Failing {
      onApplicationBootstrap(): never {
        throw new Error('no licence');
      }
    }
    await expect(
      start(RanklogModule.forRoot({ ...options, kafka: seen }), Failing),
    ).rejects.toThrow('no licence');
    expect(events).toEqual([]);
    const consumer = (config: ConsumerConfig) => {
      const subscribe = () => Promise.reject(new Error('no consumer'));
      return Object.assign(kafka.consumer(config), { subscribe });
    };
    const half = Object.assign(testKafka({ brokers }), { producer, consumer });
    await expect(start(RanklogModule.forRoot({ ...options, kafka: half }), Badges)).rejects.toThrow(
      'no consumer',
    );
    expect(events).toEqual(['connected', 'disconnected']);
  });

  it('does not start if a topic is missing, and names it', async () => {
    const module = RanklogModule.forRoot({ ...optionsOf(), topicPrefix: 'nope' });
    await expect(start(module)).rejects.toThrow(
      'there is no topic nope.score-events; create what is missing with "ranklog topics", unless the topic prefix is wrong',
    );
    const { kafka } = instance;
    const subscriber = new RankChangeSubscriber({ kafka, topicPrefix: 'nope', groupId: 'nope' });
    await expect(subscriber.start(() => undefined)).rejects.toThrow(TopicsMissingError);
  });

  it('warns of a board that Redis does not know, and of a text that is no view', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await start(RanklogModule.forRoot(optionsOf()), Misspelt);
    await until(() => warn.mock.calls.length > 1, 'the warnings are logged');
    expect(warn.mock.calls).toEqual([
      ['Misspelt.handle: there is no board "arenna"; live boards: arena, golf'],
      [expect.stringMatching(/^Misspelt\.handleWeek: no result has the view "week": it is "week:/)],
    ]);
    warn.mockRestore();
  });

  it('connects to nothing if the producer or the reader is overridden', async () => {
    const kafka = testKafka({ brokers: ['127.0.0.1:1'] });
    const redis = new Redis(1, { lazyConnect: true });
    const imports = [RanklogModule.forRoot({ kafka, redis, groupId: 'quiz' })];
    const overridden = [ScoreProducer, BoardReader].map(async (token) => {
      const testing = Test.createTestingModule({ imports, providers: [Badges] });
      const app = await testing.overrideProvider(token).useValue({}).compile();
      app.useLogger(false);
      await app.init();
      expect(app.get(token)).toEqual({});
      await app.close();
    });
    await Promise.all(overridden);
    expect(redis.status).toBe('wait');
  });

  it('refuses to be overridden as a module, which Nest would ignore', async () => {
    const testing = Test.createTestingModule({ imports: [RanklogModule.forRoot(optionsOf())] });
    const overridden = testing.overrideModule(RanklogModule).useModule(class Nothing {});
    await expect(overridden.compile()).rejects.toThrow(
      'overrideModule(RanklogModule) has no effect',
    );
  });

  it('refuses two sets of options', async () => {
    const never = () => new Promise<RanklogModuleOptions>(() => undefined); // no client connects
    const imports = [1, 2].map(() => RanklogModule.forRootAsync({ useFactory: never }));
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow(
      'RanklogModule is imported with two sets of options: call forRoot once',
    );
  });

  it('joins no group if one handler cannot get results', async () => {
    const { groupId = '', ...rest } = optionsOf();
    @Injectable()
    class Half {
      @OnRankChange({ groupId })
      rank(): void {
        got.all.length = 0;
      }

      @OnLeaderChange()
      leaders(): void {
        got.leaders.length = 0;
      }
    }
    await expect(start(RanklogModule.forRoot(rest), Half)).rejects.toThrow(
      'Half.leaders has no consumer group',
    );
    expect(await membersOf(`${groupId}.rank-changes`)).toBe(0);
  });

  it('gives a handler earlier results if it asks for them, and not to those of other groups', async () => {
    const earlier: RankChange[] = [];
    @Injectable()
    class Archive {
      @OnRankChange({ groupId: `${instance.name}-archive`, fromBeginning: true })
      keep(change: RankChange): void {
        earlier.push(change);
      }
    }
    await instance.produce([JSON.stringify(arena('ida'))]);
    const isIda = ({ playerId }: RankChange) => playerId === 'ida';
    const isRanked = async () => (await instance.reader.player('arena', 'ida')).standing !== null;
    await until(isRanked, 'the event is applied');
    await start(RanklogModule.forRoot(optionsOf()), Archive, Badges);
    await until(() => earlier.some(isIda), 'the earlier result has come');
    expect(got.all.filter(({ playerId }) => playerId !== 'ida')).toEqual([]);
    @Injectable()
    class Other {
      @OnRankChange({ groupId: `${instance.name}-archive` })
      keep(): void {
        earlier.length = 0;
      }
    }
    await expect(start(RanklogModule.forRoot(optionsOf()), Archive, Other)).rejects.toThrow(
      `Other.keep and Archive.keep are in group ${instance.name}-archive and differ in fromBeginning`,
    );
  });

  it('does not start with a handler that has no group or whose class is not a singleton', async () => {
    const { kafka, redis, topicPrefix = '' } = optionsOf();
    const module = RanklogModule.forRoot({ kafka, redis, topicPrefix });
    await expect(start(module, Broken)).rejects.toThrow(
      'Broken.fail has no consumer group: give RanklogModule or its decorator a groupId',
    );
    await expect(start(RanklogModule.forRoot(optionsOf()), PerRequest)).rejects.toThrow(
      "PerRequest.handle can't get results: its class must be a singleton",
    );
    await expect(start(RanklogModule.forRoot(optionsOf()), PerUser)).rejects.toThrow(
      "PerUser.handle can't get results: its class must be a singleton",
    );
  });
});

describe('RanklogHealth', () => {
  it('is down once a subscription has ended', async () => {
    const errors = { policy: 'stop', retries: 0 } as const;
    const options = { ...optionsOf(), errors };
    const app = await start(RanklogModule.forRoot(options), Broken);
    const health = app.get(RanklogHealth);
    expect(await health.isHealthy('ranklog')).toEqual({ ranklog: { status: 'up' } });
    await app.get(ScoreProducer).send([arena('eve')]);
    const isDown = async () => (await health.isHealthy('ranklog')).ranklog.status === 'down';
    await until(isDown, 'the handler has failed');
    expect(await health.isHealthy('ranklog')).toEqual({
      ranklog: {
        status: 'down',
        problems: [
          `the subscription of group ${options.groupId ?? ''}.rank-changes has ended: Error: no database`,
        ],
      },
    });
  });

  it('is down while Redis does not answer, and answers soon', async () => {
    const silent = createServer((socket) => void socket.resume());
    await once(silent.listen(0), 'listening');
    const { port } = silent.address() as AddressInfo;
    const redis = new Redis(port, { disconnectTimeout: 100 });
    redis.on('error', () => undefined);
    const app = await start(RanklogModule.forRoot({ ...optionsOf(), redis }));
    expect(await app.get(RanklogHealth).isHealthy('ranklog')).toMatchObject({
      ranklog: { status: 'down', problems: ['Redis: no answer within 2000 ms'] },
    });
    redis.disconnect();
    await until(() => redis.status === 'end', 'the client is closed');
    silent.close();
  });

  it('is down while no node of a cluster is connected', async () => {
    const options = { clusterRetryStrategy: () => null, enableOfflineQueue: false };
    const redis = new Cluster([{ host: '127.0.0.1', port: 1 }], options);
    redis.on('error', () => undefined);
    const app = await start(RanklogModule.forRoot({ ...optionsOf(), redis }));
    expect(await app.get(RanklogHealth).isHealthy('ranklog')).toMatchObject({
      ranklog: { status: 'down', problems: ['Redis: no node of the cluster is connected'] },
    });
  });
});

async function membersOf(groupId: string): Promise<number> {
  const { groups } = await instance.admin.describeGroups([groupId]);
  return groups[0]?.members.length ?? 0;
}

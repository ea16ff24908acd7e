import type { DynamicModule, FactoryProvider, ValueProvider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import type { Kafka } from 'kafkajs';
import { parseBoardsFile, parseTime, type BoardDefinition } from '#board';
import {
  requirePlayerId,
  selectedView,
  valuesOf,
  type Decimal,
  type ViewSelection,
} from '#board-store';
import type { LeaderChange, ScoreEvent } from '#client';
import {
  BoardReader,
  DeadLetterSubscriber,
  LeaderChangeSubscriber,
  LiveLeaders,
  ModerationProducer,
  PeriodResultSubscriber,
  RankChangeSubscriber,
  RANKLOG_OPTIONS,
  RanklogHealth,
  ResultSubscriptions,
  ScoreProducer,
  type RanklogModuleOptions,
} from '#nestjs';
import type { SubscriberClass, Subscription } from '../result-subscriptions.js';
import { MemoryKafka, MemoryProducer, type SentPlayerRecord } from './memory-producer.js';
import { MemoryRedis, PREFIX } from './memory-redis.js';
import type { MemoryPlayer } from './memory-view.js';
import {
  deadLetter,
  leaderChange,
  periodResult,
  rankChange,
  type DeadLetterFields,
  type LeaderChangeFields,
  type PeriodResultFields,
  type RankChangeFields,
} from './result-builders.js';

export interface TestingOptions {
  /**
   * The text of a boards file. Without it, the reader knows no board, and events of all boards are
   * accepted.
   */
  readonly boards?: string;
}

/** A player of a view. */
export interface GivenStanding {
  readonly playerId: string;
  /** The values of all columns, or the value of the only one. */
  readonly score: Decimal | Readonly<Record<string, Decimal>>;
  /** RFC 3339. By default, players with equal scores rank in the given order. */
  readonly reachedAt?: string;
}

const NOT_STARTED = 'handlers are found when the application starts: await its init() first';
const FIRST_REACHED = Date.parse('2026-11-25T12:00:00.000Z');

/**
 * The providers of RanklogModule without Kafka and Redis, for tests. Keeps the records that the
 * service sends. The BoardReader reads the standings that the test sets. The test emits results,
 * which the decorated handlers get.
 *
 *     const ranklog = new RanklogTestingModule({ boards: readFileSync('boards.yaml', 'utf8') });
 *     const builder = ranklog.override(Test.createTestingModule({ imports: [AppModule] }));
 */
export class RanklogTestingModule {
  readonly #definitions: ReadonlyMap<string, BoardDefinition> | undefined;
  readonly #kafka = new MemoryKafka((record, offset) => this.#redis.setBan(record, offset));
  readonly #redis: MemoryRedis;
  readonly #reader: BoardReader;
  readonly #producer: ScoreProducer;
  readonly #options: RanklogModuleOptions;
  readonly #leaders: MemoryLeaders;
  #subscriptions: MemorySubscriptions | undefined;

  /** @throws BoardsFileError */
  constructor({ boards }: TestingOptions = {}) {
    const definitions = boards === undefined ? undefined : parseBoardsFile(boards, 'boards');
    this.#definitions =
      definitions && new Map(definitions.map((definition) => [definition.board, definition]));
    this.#redis = new MemoryRedis(definitions ?? []);
    const redis = this.#redis as unknown as Redis;
    this.#reader = new BoardReader({ redis, prefix: PREFIX });
    this.#producer = new MemoryProducer({
      kafka: this.#kafka,
      reader: this.#reader,
      definitions: this.#definitions,
    });
    this.#options = { kafka: this.#kafka as unknown as Kafka, redis, groupId: 'testing' };
    this.#leaders = new MemoryLeaders(this.#options, this.#reader);
  }

  /** The score events that were sent, in order. */
  get sent(): readonly ScoreEvent[] {
    return this.#kafka.events;
  }

  /** The bans, unbans and erasures that were sent, in order. */
  get sentPlayerRecords(): readonly SentPlayerRecord[] {
    return this.#kafka.playerRecords;
  }

  /** For tests of a module that relies on the RanklogModule of its application: import this. */
  get module(): DynamicModule {
    const providers = [...this.#providers(), RanklogHealth];
    const exported = [ScoreProducer, ModerationProducer, BoardReader, LiveLeaders, RanklogHealth];
    return {
      module: RanklogTestingModule,
      global: true,
      imports: [DiscoveryModule],
      providers,
      exports: [...exported, RANKLOG_OPTIONS],
    };
  }

  /**
   * Replaces the providers of the RanklogModule that the application imports. Nest does not create
   * its options, so no client connects.
   */
  override(builder: TestingModuleBuilder): TestingModuleBuilder {
    for (const provider of this.#providers()) {
      const overridden = builder.overrideProvider(provider.provide);
      if ('useValue' in provider) overridden.useValue(provider.useValue);
      else overridden.useFactory({ ...provider, factory: provider.useFactory });
    }
    return builder;
  }

  /**
   * Replaces the players of the view that a read with the same selection reads; by default `all`.
   * @throws NoSuchViewError, NoInstanceError, MalformedViewError, InvalidReadError
   */
  setStandings(
    board: string,
    players: readonly GivenStanding[],
    selection: ViewSelection = {},
  ): void {
    const definition = this.#definitions?.get(board);
    if (definition === undefined)
      throw new Error(
        `no board "${board}" is defined: give RanklogTestingModule a boards file that has it`,
      );
    const { view } = selectedView(definition, selection);
    const placed = players.map((player, index) => memoryPlayer(definition, player, index));
    if (new Set(players.map(({ playerId }) => playerId)).size < players.length)
      throw new Error(`the standings of ${board} ${view} have a player twice`);
    this.#redis.setView(definition, view, placed);
  }

  /**
   * Gives a rank change to the handlers that are decorated for it. `rankChange()` adds the missing
   * fields. Resolves when all have handled it.
   * @throws the error of a handler
   */
  emitRankChange(fields?: RankChangeFields): Promise<void> {
    return this.#emit(RankChangeSubscriber, rankChange(fields));
  }

  /** Like emitRankChange, for leader changes. The streams of LiveLeaders get it, too. */
  async emitLeaderChange(fields?: LeaderChangeFields): Promise<void> {
    const change = leaderChange(fields);
    this.#leaders.take(change);
    await this.#emit(LeaderChangeSubscriber, change);
  }

  /** Like emitRankChange, for the results of closed windows. */
  emitPeriodResult(fields?: PeriodResultFields): Promise<void> {
    return this.#emit(PeriodResultSubscriber, periodResult(fields));
  }

  /** Like emitRankChange, for dead letters. */
  emitDeadLetter(fields?: DeadLetterFields): Promise<void> {
    return this.#emit(DeadLetterSubscriber, deadLetter(fields));
  }

  async #emit<T>(Subscriber: SubscriberClass<T>, result: T): Promise<void> {
    if (this.#subscriptions === undefined) throw new Error(NOT_STARTED);
    await this.#subscriptions.deliver(Subscriber, result);
  }

  #subscribe(discovery: DiscoveryService): ResultSubscriptions {
    this.#subscriptions = new MemorySubscriptions(
      this.#options,
      discovery,
      this.#producer,
      this.#reader,
    );
    return this.#subscriptions;
  }

  #providers(): (ValueProvider | FactoryProvider)[] {
    const producer = this.#producer;
    const reader = this.#reader;
    return [
      { provide: RANKLOG_OPTIONS, useValue: this.#options },
      { provide: ScoreProducer, useValue: producer },
      { provide: BoardReader, useValue: reader },
      { provide: LiveLeaders, useValue: this.#leaders },
      { provide: ModerationProducer, useValue: new ModerationProducer({ producer, reader }) },
      {
        provide: ResultSubscriptions,
        inject: [DiscoveryService],
        useFactory: (discovery: DiscoveryService) => this.#subscribe(discovery),
      },
    ];
  }
}

/** Keeps the handlers of the application, and gives them the results that the test emits. */
class MemorySubscriptions extends ResultSubscriptions {
  readonly #handles = new Map<unknown, ((result: unknown) => unknown)[]>();
  #isStarted = false;

  override async onApplicationBootstrap(): Promise<void> {
    await super.onApplicationBootstrap();
    this.#isStarted = true;
  }

  async deliver<T>(Subscriber: SubscriberClass<T>, result: T): Promise<void> {
    if (!this.#isStarted) throw new Error(NOT_STARTED);
    for (const handle of this.#handles.get(Subscriber) ?? []) await handle(result);
  }

  protected override createSubscriber<T>(Subscriber: SubscriberClass<T>): Subscription<T> {
    const handles = this.#handles.get(Subscriber) ?? [];
    this.#handles.set(Subscriber, handles);
    return {
      failed: new Promise(() => undefined),
      stop: () => Promise.resolve(),
      start: (handle) => {
        handles.push(handle as (result: unknown) => unknown);
        return Promise.resolve();
      },
    };
  }
}

/** Streams the leader changes that the test emits. */
class MemoryLeaders extends LiveLeaders {
  #take: ((change: LeaderChange) => void) | undefined;

  take(change: LeaderChange): void {
    this.#take?.(change);
  }

  protected override follow(take: (change: LeaderChange) => void) {
    this.#take = take;
    let end: (reason: Error) => void = () => undefined;
    const ended = new Promise<Error>((resolve) => {
      end = resolve;
    });
    const close = () => {
      end(new Error('closed'));
      return Promise.resolve();
    };
    return Promise.resolve({ ended, close });
  }
}

function memoryPlayer(
  definition: BoardDefinition,
  { playerId, score, reachedAt }: GivenStanding,
  index: number,
): MemoryPlayer {
  requirePlayerId(playerId);
  const later = definition.ties === 'latest' ? -index : index;
  const time = reachedAt === undefined ? FIRST_REACHED + later : parseTime(reachedAt);
  if (time === undefined)
    throw new Error(`reachedAt of ${playerId} is ${reachedAt}, which is no time of RFC 3339`);
  const values = valuesOf(definition, score);
  return { playerId, state: values.map((value) => ({ value, time, settled: true })) };
}

import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { BoardDefinition } from '#board';
import { selectedView } from '#board-store';
import { BoardReader } from '#board-store/reader';
import {
  DeadLetterSubscriber,
  LeaderChangeSubscriber,
  PeriodResultSubscriber,
  RankChangeSubscriber,
  ScoreProducer,
  type DeadLetterRecord,
  type LeaderChange,
  type PeriodResult,
  type RankChange,
  type ResultSubscriber,
  type SubscriberOptions,
} from '#client';
import {
  findHandlers,
  type AnyFilter,
  type DecoratedHandler,
  type ResultKind,
} from './decorators.js';
import { RANKLOG_OPTIONS, type RanklogModuleOptions } from './options.js';

export type SubscriberClass<T> = new (options: SubscriberOptions) => ResultSubscriber<T>;
export type Subscription<T> = Pick<ResultSubscriber<T>, 'start' | 'stop' | 'failed'>;

/** A kind of result: how to subscribe to it, and which part of a result a filter lets through. */
interface Kind<T> {
  readonly kind: ResultKind;
  readonly Subscriber: SubscriberClass<T>;
  readonly select: (result: T, filter: AnyFilter) => T | undefined;
}

const RANK: Kind<RankChange> = {
  kind: 'rank-changes',
  Subscriber: RankChangeSubscriber,
  select: (change, filter) => {
    const changes = change.changes.filter(({ view }) => matches(change.board, view, filter));
    return changes.length === 0 ? undefined : Object.assign({}, change, { changes });
  },
};

const LEADER: Kind<LeaderChange> = {
  kind: 'leader-changes',
  Subscriber: LeaderChangeSubscriber,
  select: selectView,
};

const PERIOD: Kind<PeriodResult> = {
  kind: 'period-results',
  Subscriber: PeriodResultSubscriber,
  select: selectView,
};

const DEAD_LETTER: Kind<DeadLetterRecord> = {
  kind: 'dead-letters',
  Subscriber: DeadLetterSubscriber,
  select: (letter, { code = letter.code }) => (code === letter.code ? letter : undefined),
};

/** A result of one view, if the filter lets it through. */
function selectView<T extends { board: string; view: string }>(result: T, filter: AnyFilter) {
  return matches(result.board, result.view, filter) ? result : undefined;
}

function matches(board: string, view: string, filter: AnyFilter): boolean {
  if (filter.board !== undefined && filter.board !== board) return false;
  if (filter.view === undefined) return true;
  if (filter.view instanceof RegExp) return view.search(filter.view) >= 0;
  return filter.view === view;
}

/** @throws for a name that no result has: results have `week:2026-W47`, and never `week` */
function requireName(definition: BoardDefinition, name: string): void {
  const { view } = selectedView(definition, { view: name });
  if (view === name) return;
  const [window = ''] = view.split(/[:@]/);
  throw new Error(
    `no result has the view "${name}": it is "${view}" now; a pattern such as /^${window}:/ ` +
      'selects all views of a window',
  );
}

/** @throws if the handlers of a group differ */
function fromBeginningOf<T>(group: string, handlers: readonly DecoratedHandler<T>[]) {
  const [first, ...others] = handlers;
  const fromBeginning = first?.filter.fromBeginning;
  const other = others.find(({ filter }) => filter.fromBeginning !== fromBeginning);
  if (other === undefined) return fromBeginning;
  throw new Error(
    `${other.name} and ${first?.name ?? ''} are in group ${group} and differ in ` +
      'fromBeginning: give one of them a groupId of its own',
  );
}

/**
 * Connects the producer and subscribes the decorated methods, by group and kind. If one throws, all
 * methods of its group may get the result again.
 */
@Injectable()
export class ResultSubscriptions implements OnApplicationBootstrap, OnModuleDestroy {
  /** By consumer group, the error that has ended its subscription. */
  readonly failures = new Map<string, unknown>();
  readonly #subscribers: { stop(): Promise<void> }[] = [];
  /** The methods whose filters name a board. */
  readonly #named: { readonly name: string; readonly filter: AnyFilter }[] = [];
  readonly #logger = new Logger('RanklogModule');

  constructor(
    @Inject(RANKLOG_OPTIONS) private readonly options: RanklogModuleOptions,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ScoreProducer) private readonly producer: ScoreProducer,
    @Inject(BoardReader) private readonly reader: BoardReader,
  ) {}

  /**
   * Resolves once the producer is connected and all subscribers have started. If one fails to
   * start, nothing stays connected. Checks that need no Kafka come first. Connects nothing if tests
   * replace the producer or the reader.
   */
  async onApplicationBootstrap(): Promise<void> {
    const starts = [
      ...this.#subscribe(RANK),
      ...this.#subscribe(LEADER),
      ...this.#subscribe(PERIOD),
      ...this.#subscribe(DEAD_LETTER),
    ];
    if (!(this.producer instanceof ScoreProducer && this.reader instanceof BoardReader)) {
      this.#logger.log('ScoreProducer or BoardReader is overridden: nothing connects to Kafka');
      return;
    }
    try {
      await this.producer.connect();
      await Promise.all(starts.map((start) => start()));
    } catch (error) {
      await this.onModuleDestroy().catch(() => undefined); // the first error is thrown
      await this.producer.disconnect().catch(() => undefined);
      throw error;
    }
    void this.#warnOfUnknown(); // a start does not wait for Redis
  }

  /** Waits for running handlers, before providers that they use are destroyed. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.#subscribers.map((subscriber) => subscriber.stop()));
  }

  /** @ranklog/nestjs/testing overrides it, so that results come from a test. */
  protected createSubscriber<T>(
    Subscriber: SubscriberClass<T>,
    options: SubscriberOptions,
  ): Subscription<T> {
    return new Subscriber(options);
  }

  /**
   * The starts of the subscribers.
   * @throws if a handler has no group, handlers of a group differ in fromBeginning, the class of a
   * handler is not a singleton, or an option is invalid
   */
  #subscribe<T>({ kind, Subscriber, select }: Kind<T>): (() => Promise<void>)[] {
    return [...this.#byGroup<T>(kind)].map(([group, handlers]) => {
      const groupId = `${group}.${kind}`;
      const fromBeginning = fromBeginningOf(group, handlers) ?? this.options.fromBeginning;
      const options = {
        ...this.options,
        groupId,
        ...(fromBeginning !== undefined && { fromBeginning }),
      };
      const subscriber = this.createSubscriber(Subscriber, options);
      this.#subscribers.push(subscriber);
      subscriber.failed.catch((error: unknown) => this.failures.set(groupId, error));
      const handle = async (result: T) => {
        for (const { filter, call } of handlers) {
          const selected = select(result, filter);
          if (selected !== undefined) await call(selected);
        }
      };
      return () => subscriber.start(handle);
    });
  }

  /** Only warns, because a board or a window may be added later. Never rejects. */
  async #warnOfUnknown(): Promise<void> {
    const methods = new Map<string, string[]>();
    for (const { name, filter } of this.#named) {
      try {
        const { definition } = await this.reader.board(filter.board ?? '');
        if (typeof filter.view === 'string') requireName(definition, filter.view);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        methods.set(message, [...(methods.get(message) ?? []), name]);
      }
    }
    for (const [message, names] of methods) this.#logger.warn(`${names.join(', ')}: ${message}`);
  }

  #byGroup<T>(kind: ResultKind): Map<string, DecoratedHandler<T>[]> {
    const groups = new Map<string, DecoratedHandler<T>[]>();
    for (const handler of findHandlers<T>(this.discovery, kind)) {
      const group = handler.filter.groupId ?? this.options.groupId;
      if (group === undefined)
        throw new Error(
          `${handler.name} has no consumer group: give RanklogModule or its decorator a groupId`,
        );
      groups.set(group, [...(groups.get(group) ?? []), handler]);
      if (handler.filter.board !== undefined) this.#named.push(handler);
    }
    return groups;
  }
}

import {
  Global,
  Inject,
  Module,
  type ConfigurableModuleAsyncOptions,
  type DynamicModule,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryModule, LazyModuleLoader, ModulesContainer } from '@nestjs/core';
import { BoardReader } from '#board-store/reader';
import { ModerationProducer, ScoreProducer } from '#client';
import { ConfigurableModuleClass, RANKLOG_OPTIONS, type RanklogModuleOptions } from './options.js';
import { LiveLeaders } from './live-leaders.js';
import { RanklogHealth } from './ranklog-health.js';
import { ResultSubscriptions } from './result-subscriptions.js';

const inject = [RANKLOG_OPTIONS];

/**
 * Nest ignores an override of a module that is imported by `forRoot`. The loader of lazy modules
 * has all overrides.
 */
function refuseOverride(loader: object): void {
  const { moduleOverrides = [] } = loader as {
    readonly moduleOverrides?: readonly { readonly moduleToReplace: unknown }[];
  };
  if (moduleOverrides.some(({ moduleToReplace }) => moduleToReplace === RanklogModule))
    throw new Error(
      'overrideModule(RanklogModule) has no effect, as Nest does not override the modules of ' +
        'forRoot(): use RanklogTestingModule of @ranklog/nestjs/testing, or ' +
        'overrideProvider(ScoreProducer)',
    );
}

/**
 * Nest bootstraps this module last and destroys it first. So when it connects, no other module can
 * fail any more, and the subscribers stop before the providers that handlers use.
 */
@Module({
  imports: [DiscoveryModule],
  providers: [ResultSubscriptions],
  exports: [ResultSubscriptions],
})
class SubscriptionsModule {
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    const all = [...modules.values()];
    if (all.filter(({ metatype }) => metatype === RanklogModule).length > 1)
      throw new Error('RanklogModule is imported with two sets of options: call forRoot once');
    for (const module of all) {
      if (module.metatype === SubscriptionsModule) module.distance = -1;
    }
  }
}

/**
 * Provides a ScoreProducer, a ModerationProducer, a BoardReader, a LiveLeaders and a RanklogHealth
 * in all modules. Subscribes the methods with a decorator: `@OnRankChange()`, `@OnLeaderChange()`,
 * `@OnPeriodClosed()` or `@OnDeadLetter()`.
 *
 *     RanklogModule.forRoot({ kafka, redis, groupId: 'badges' })
 *
 * The producer and the subscribers connect at the end of the bootstrap. Subscribers stop when the
 * application begins to shut down, the producer disconnects at the end of the shutdown. After
 * signals, Nest shuts down only with `app.enableShutdownHooks()`.
 */
@Global()
@Module({
  imports: [SubscriptionsModule],
  providers: [
    {
      provide: ScoreProducer,
      inject: [...inject, BoardReader],
      useFactory: (options: RanklogModuleOptions, reader: BoardReader) =>
        new ScoreProducer({ reader, ...options }),
    },
    {
      provide: BoardReader,
      inject,
      useFactory: ({ redis, redisPrefix }: RanklogModuleOptions) =>
        new BoardReader({ redis, prefix: redisPrefix }),
    },
    {
      provide: ModerationProducer,
      inject: [...inject, ScoreProducer, BoardReader],
      useFactory: (
        { source }: RanklogModuleOptions,
        producer: ScoreProducer,
        reader: BoardReader,
      ) => new ModerationProducer({ producer, reader, source }),
    },
    RanklogHealth,
    LiveLeaders,
  ],
  exports: [
    ScoreProducer,
    ModerationProducer,
    BoardReader,
    RanklogHealth,
    LiveLeaders,
    RANKLOG_OPTIONS,
  ],
})
export class RanklogModule implements OnApplicationShutdown {
  static forRoot(options: RanklogModuleOptions): DynamicModule {
    return { ...ConfigurableModuleClass.forRoot(options), module: RanklogModule };
  }

  static forRootAsync(
    options: ConfigurableModuleAsyncOptions<RanklogModuleOptions>,
  ): DynamicModule {
    return { ...ConfigurableModuleClass.forRootAsync(options), module: RanklogModule };
  }

  constructor(
    @Inject(ScoreProducer) private readonly producer: ScoreProducer,
    @Inject(LazyModuleLoader) loader: LazyModuleLoader,
  ) {
    refuseOverride(loader);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.producer instanceof ScoreProducer) await this.producer.disconnect();
  }
}

import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { BoardReader } from '#board-store/reader';
import { ModerationProducer, ScoreProducer } from '#client';
import {
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type RanklogModuleOptions,
} from './options.js';
import { RanklogHealth } from './ranklog-health.js';
import { ResultSubscriptions } from './result-subscriptions.js';

const inject = [MODULE_OPTIONS_TOKEN];

/** Nest destroys this module first: the subscribers stop before any provider of the application, as handlers use them. */
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
    for (const module of all) if (module.metatype === SubscriptionsModule) module.distance = -1;
  }
}

/**
 * Provides a connected ScoreProducer, a ModerationProducer, a BoardReader and a RanklogHealth in all modules, and subscribes the
 * methods that are decorated with @OnRankChange(), @OnLeaderChange() or @OnPeriodClosed().
 *
 *     RanklogModule.forRoot({ kafka, redis, groupId: 'badges' })
 *
 * Subscribers stop when the application begins to shut down, the producer disconnects at the end of the shutdown. After signals,
 * Nest shuts down only with `app.enableShutdownHooks()`.
 */
@Global()
@Module({
  imports: [SubscriptionsModule],
  providers: [
    {
      provide: ScoreProducer,
      inject: [...inject, BoardReader],
      useFactory: async (options: RanklogModuleOptions, reader: BoardReader) => {
        const producer = new ScoreProducer({ reader, ...options });
        await producer.connect();
        return producer;
      },
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
  ],
  exports: [ScoreProducer, ModerationProducer, BoardReader, RanklogHealth, MODULE_OPTIONS_TOKEN],
})
export class RanklogModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(@Inject(ScoreProducer) private readonly producer: ScoreProducer) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.producer.disconnect();
  }
}

import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BoardReader } from '#board-store/reader';
import { ScoreProducer } from '#client';
import { HandlerExplorer } from './handler-explorer.js';
import {
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type RanklogModuleOptions,
} from './options.js';
import { RanklogHealth } from './ranklog-health.js';
import { ResultSubscriptions } from './result-subscriptions.js';

const inject = [MODULE_OPTIONS_TOKEN];

/**
 * Provides a connected ScoreProducer, a BoardReader and a RanklogHealth in all modules, and subscribes the methods that are
 * decorated with @OnRankChange() or @OnLeaderChange().
 *
 *     RanklogModule.forRoot({ kafka, redis, groupId: 'badges' })
 *
 * Subscribers stop when the application begins to shut down, the producer disconnects at the end of the shutdown. After signals,
 * Nest shuts down only with `app.enableShutdownHooks()`.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: ScoreProducer,
      inject,
      useFactory: async (options: RanklogModuleOptions) => {
        const producer = new ScoreProducer(options);
        await producer.connect();
        return producer;
      },
    },
    {
      provide: BoardReader,
      inject,
      useFactory: ({ redis, redisPrefix }: RanklogModuleOptions) =>
        new BoardReader({ redis, ...(redisPrefix !== undefined && { prefix: redisPrefix }) }),
    },
    HandlerExplorer,
    ResultSubscriptions,
    RanklogHealth,
  ],
  exports: [ScoreProducer, BoardReader, RanklogHealth],
})
export class RanklogModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(@Inject(ScoreProducer) private readonly producer: ScoreProducer) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.producer.disconnect();
  }
}

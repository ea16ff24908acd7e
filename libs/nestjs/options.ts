import type { RedisClient } from '#board-store';
import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { ScoreProducerOptions, SubscriberOptions } from '#client';

/**
 * `kafka` and `redis` are clients of the application: the module does not close the Redis client.
 */
export interface RanklogModuleOptions
  extends ScoreProducerOptions, Omit<SubscriberOptions, 'groupId'> {
  readonly redis: RedisClient;
  /** RANKLOG_REDIS_PREFIX of the service; by default `ranklog`. */
  readonly redisPrefix?: string;
  /** The `groupId` of handlers that name none: the name of your service. */
  readonly groupId?: string;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<RanklogModuleOptions>({ moduleName: 'Ranklog' })
    .setClassMethodName('forRoot')
    .build();

export { ConfigurableModuleClass };

/** The token of the RanklogModuleOptions that the application gave. */
export const RANKLOG_OPTIONS = MODULE_OPTIONS_TOKEN;

import { Global, Inject, Module, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  GenerationStore,
  IdentityCheck,
  KeySpace,
  LeaseStore,
} from '#board-store';
import type { Settings } from '../config/settings.js';
import { PROCESS_OPTIONS, SETTINGS, type ProcessOptions } from './config.module.js';
import { passOverSkipped } from './definitions-log.js';
import { DefinitionsTopic } from './definitions-topic.js';
import { readIdentity, withGroup } from './identity.js';
import { KafkaConnection } from './kafka.js';
import { Logger } from './logger.js';
import { createRedis } from './redis.js';
import { checkServers } from './server-checks.js';
import { waitForServices } from './services.js';
import { requireTopics } from './topics.js';

/** The injection token of all stores, for providers that need several of them. */
export const STORES = Symbol('Stores');

/**
 * The injection token of the Redis client for reads over HTTP. They have a connection of their own: Redis answers the commands of a
 * connection in order, so those of ingest would wait behind all reads that came before.
 */
export const READS = Symbol('Reads');
/** The injection token of all Redis clients of the process: that of the class Redis, and that of READS if it is another one. */
export const CONNECTIONS = Symbol('Connections');
export type Connections = readonly [Redis, ...Redis[]];

const PROVIDERS = [
  { provide: Redis, inject: [SETTINGS, Logger], useFactory: createRedis },
  {
    provide: KafkaConnection,
    inject: [SETTINGS, Logger],
    useFactory: (settings: Settings, logger: Logger) => new KafkaConnection(settings, logger),
  },
  {
    provide: READS,
    inject: [Redis, PROCESS_OPTIONS],
    useFactory: (redis: Redis, { settings, roles, logger }: ProcessOptions) =>
      roles.includes('query') ? createRedis(settings, logger) : redis,
  },
  {
    provide: CONNECTIONS,
    inject: [Redis, READS],
    useFactory: (redis: Redis, reads: Redis): Connections =>
      reads === redis ? [redis] : [redis, reads],
  },
  {
    provide: IdentityCheck,
    inject: [CONNECTIONS, KafkaConnection, PROCESS_OPTIONS],
    useFactory: connect,
  },
  DefinitionsTopic,
  { provide: STORES, inject: [Redis, SETTINGS, IdentityCheck], useFactory: createStores },
  oneOf(KeySpace, 'keys'),
  oneOf(BoardStore, 'store'),
  oneOf(ContinuityStore, 'continuity'),
  oneOf(LeaseStore, 'leases'),
  oneOf(GenerationCatalog, 'catalog'),
];

export type Stores = ReturnType<typeof createStores>;

export function createStores(
  redis: Redis,
  { redisPrefix, shards }: Settings,
  identity: IdentityCheck,
) {
  const keys = new KeySpace(redisPrefix);
  return {
    keys,
    store: new BoardStore(redis, keys, { shards, identity }),
    continuity: new ContinuityStore(redis, keys, { shards }),
    leases: new LeaseStore(redis, keys, { shards }),
    generations: new GenerationStore(redis, keys, { shards }),
    catalog: new GenerationCatalog(redis, keys, { shards }),
  };
}

/** Provides one of the stores by its class. */
function oneOf<Name extends keyof Stores>(provide: Type<Stores[Name]>, name: Name) {
  return { provide, inject: [STORES], useFactory: (stores: Stores) => stores[name] };
}

/**
 * Redis, Kafka, the stores and the definitions topic. Kafka and Redis are closed last, when the
 * transport has finished what was in flight.
 */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ConnectionsModule implements OnApplicationShutdown {
  constructor(
    @Inject(CONNECTIONS) private readonly connections: Connections,
    private readonly kafka: KafkaConnection,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.kafka.admin.disconnect();
    for (const redis of this.connections) redis.disconnect();
  }
}

/**
 * Waits for Redis and Kafka, connects, and reads the cluster id. Closes all on failure, as Nest calls no shutdown hook then.
 * @throws ServiceUnreachableError, SettingsError, TopicsMissingError, and the reason of the shutdown signal
 */
export async function connect(
  connections: Connections,
  connection: KafkaConnection,
  { settings, roles, logger, shutdown, start }: ProcessOptions,
): Promise<IdentityCheck> {
  const { admin, topics } = connection;
  const [redis, ...others] = connections;
  const warn = (reason: string) => {
    if (start) start.waitsFor = reason;
    logger.warn(reason);
  };
  const noting = Object.assign({}, logger, { warn });
  try {
    const signal = shutdown?.signal;
    await waitForServices(settings, { kafka: true, redis, signal }, noting);
    for (const other of others) await waitForServices(settings, { redis: other, signal }, noting);
    await admin.connect();
    const reading = readIdentity(redis, connection, settings);
    const skipping = passOverSkipped(connection);
    // If rights or topics are missing, so that they can't be read, the checks say so.
    skipping.catch(() => undefined);
    const checked = { settings: await withGroup(settings, reading), roles, redis, connection };
    if (roles.length > 0) await checkServers(checked, logger);
    await requireTopics(admin, Object.values(topics));
    for (const { partition, first, last } of await skipping)
      logger.warn(
        `${topics.scoreEvents}/${partition}/${first}-${last} was given up: it is skipped`,
      );
    const { group } = await reading;
    if (settings.group === '' && group !== settings.topicPrefix)
      logger.info(`RANKLOG_GROUP is not set: going on with the stored consumer group "${group}"`);
    return await reading;
  } catch (error) {
    await admin.disconnect();
    for (const client of connections) client.disconnect();
    throw error;
  }
}

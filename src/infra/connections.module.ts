import { Global, Module, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { BoardReader, BoardStore, ContinuityStore, IdentityCheck, LeaseStore } from '#board-store';
import type { Settings } from '../config/settings.js';
import { PROCESS_OPTIONS, SETTINGS, type ProcessOptions } from './config.module.js';
import { DefinitionsTopic } from './definitions-topic.js';
import { readIdentity, withGroup } from './identity.js';
import { KafkaConnection } from './kafka.js';
import { Logger } from './logger.js';
import { createRedis, RedisClients } from './redis.js';
import { checkServers } from './server-checks.js';
import { waitForServices } from './services.js';
import { passOverSkipped } from './skipped-batches.js';
import { Stores } from './stores.js';
import { requiredTopics, requireTopics } from './topics.js';

/** The stores for reads over HTTP: see `RedisClients.reads`. */
export class ReadStores extends Stores {}

const PROVIDERS = [
  { provide: RedisClients, inject: [PROCESS_OPTIONS], useFactory: createClients },
  {
    provide: KafkaConnection,
    inject: [SETTINGS, Logger],
    useFactory: (settings: Settings, logger: Logger) => new KafkaConnection(settings, logger),
  },
  {
    provide: IdentityCheck,
    inject: [RedisClients, KafkaConnection, PROCESS_OPTIONS],
    useFactory: connect,
  },
  DefinitionsTopic,
  {
    provide: Stores,
    inject: [RedisClients, SETTINGS, IdentityCheck],
    useFactory: ({ main }: RedisClients, settings: Settings, identity: IdentityCheck) =>
      new Stores(main, settings, { identity }),
  },
  {
    provide: ReadStores,
    inject: [RedisClients, SETTINGS, IdentityCheck],
    useFactory: ({ reads }: RedisClients, settings: Settings, identity: IdentityCheck) =>
      new Stores(reads, settings, { identity }),
  },
  storeProvider(Stores, BoardStore, 'store'),
  storeProvider(Stores, ContinuityStore, 'continuity'),
  storeProvider(Stores, LeaseStore, 'leases'),
  storeProvider(ReadStores, BoardReader, 'reader'),
];

function createClients({ settings, roles, logger }: ProcessOptions): RedisClients {
  const main = createRedis(settings, logger);
  return new RedisClients(main, roles.includes('query') ? createRedis(settings, logger) : main);
}

/** Provides one of the stores by its class. */
function storeProvider<Name extends keyof Stores>(
  from: Type<Stores>,
  provide: Type<Stores[Name]>,
  name: Name,
) {
  return { provide, inject: [from], useFactory: (stores: Stores) => stores[name] };
}

/**
 * Redis, Kafka, the stores and the definitions topic. Closes Kafka and Redis last, after the
 * transport has finished its work.
 */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ConnectionsModule implements OnApplicationShutdown {
  constructor(
    private readonly clients: RedisClients,
    private readonly kafka: KafkaConnection,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.kafka.admin.disconnect();
    this.clients.disconnect();
  }
}

/**
 * Waits for Redis and Kafka, runs the checks of a start, and returns the identity. After a failure,
 * closes all clients itself, because Nest then calls no shutdown hook.
 * @throws ServiceUnreachableError, SettingsError, TopicsMissingError, and the reason of the
 * shutdown signal
 */
export async function connect(
  clients: RedisClients,
  connection: KafkaConnection,
  { settings, roles, logger, shutdown, start }: ProcessOptions,
): Promise<IdentityCheck> {
  const { admin, topics } = connection;
  const { main: redis } = clients;
  const warn = (reason: string) => {
    if (start) start.waitsFor = reason;
    logger.warn(reason);
  };
  const noting = Object.assign({}, logger, { warn });
  try {
    const signal = shutdown?.signal;
    await waitForServices(settings, { kafka: true, redis, signal }, noting);
    if (clients.reads !== redis)
      await waitForServices(settings, { redis: clients.reads, signal }, noting);
    await admin.connect();

    const reading = readIdentity(redis, connection, settings);
    const skipping = passOverSkipped(connection);
    // Both reads fail if rights or topics are missing. The checks below give a better error for
    // that, so they come first. withGroup handles a failure of `reading`.
    skipping.catch(() => undefined);
    const checked = await withGroup(settings, reading);
    const subject = { settings: checked, roles, redis, connection };
    if (roles.length > 0) await checkServers(subject, logger);
    await requireTopics(admin, requiredTopics(topics));

    for (const { partition, first, last } of await skipping)
      logger.warn(
        `${topics.scoreEvents}/${partition}/${first}-${last} was given up: it is skipped`,
      );
    const identity = await reading;
    const { group } = identity;
    if (settings.group === '' && group !== settings.topicPrefix)
      logger.info(`RANKLOG_GROUP is not set: going on with the stored consumer group "${group}"`);
    return identity;
  } catch (error) {
    await admin.disconnect();
    clients.disconnect();
    throw error;
  }
}

import { connect } from '../../infra/connections.module.js';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { createRedis, RedisClients } from '../../infra/redis.js';
import { Stores } from '../../infra/stores.js';
import { BoardRegistrar } from '../../reconciliation/boards/board-registrar.js';
import { createReconciler } from '../../reconciliation/reconciler.js';
import { whenClosed } from './kafka-session.js';
import { openSession } from './session.js';

/** The settings, connections, stores and services that commands on generations use. */
export type ReconciliationSession = Awaited<ReturnType<typeof openUncheckedReconciliation>>;

/**
 * Opens the services of the role `reconciliation`.
 * @throws ServiceUnreachableError, TopicsMissingError, OtherIdentityError
 */
export async function openReconciliation(): Promise<ReconciliationSession> {
  const session = await openUncheckedReconciliation();
  try {
    await session.stores.store.check();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * As `openReconciliation`, but accepts a Redis that another ranklog has claimed.
 * @throws ServiceUnreachableError, TopicsMissingError
 */
export async function openUncheckedReconciliation() {
  const { settings: ours, logger } = openSession();
  const settings = { ...ours, backgroundRate: 0 }; // a command has its own limit, --throttle
  const options = { settings, logger, roles: [] };
  const redis = createRedis(settings, logger);
  const connection = new KafkaConnection(settings, logger);
  // Closes both connections if it fails.
  const identity = await connect(new RedisClients(redis), connection, options);
  const stores = new Stores(redis, settings, { identity });
  const definitions = new DefinitionsTopic(connection, identity, logger);
  const { kafka, admin, topics } = connection;
  return {
    settings,
    logger,
    redis,
    kafka,
    admin,
    topics,
    identity,
    definitions,
    stores,
    registrar: new BoardRegistrar(stores, definitions, connection, options),
    reconciler: createReconciler(stores, connection, definitions, options),
    graceMs: settings.rollbackGrace,
    async [Symbol.asyncDispose]() {
      await whenClosed(admin.disconnect(), logger);
      redis.disconnect();
    },
  };
}

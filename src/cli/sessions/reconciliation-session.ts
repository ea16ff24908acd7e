import { connect } from '../../infra/connections.module.js';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { createRedis, RedisClients } from '../../infra/redis.js';
import { openStores } from '../../infra/stores.js';
import { BoardRegistrar } from '../../reconciliation/boards/board-registrar.js';
import { createReconciler } from '../../reconciliation/reconciler.js';
import { openSession } from './session.js';

/** The settings, connections, stores and services that commands on generations use. */
export type ReconciliationSession = Awaited<ReturnType<typeof open>>;

async function open() {
  const { settings: ours, logger } = openSession();
  const settings = { ...ours, backgroundRate: 0 }; // a command has its own limit, --throttle
  const options = { settings, logger, roles: [] };
  const redis = createRedis(settings, logger);
  const connection = new KafkaConnection(settings, logger);
  const identity = await connect(new RedisClients(redis), connection, options);
  const stores = await openStores(redis, settings, { identity });
  const definitions = new DefinitionsTopic(connection, identity, logger);
  const { kafka, admin, topics } = connection;
  return {
    ...{ settings, logger, redis, kafka, admin, topics, identity, definitions, stores },
    registrar: new BoardRegistrar(stores, definitions, connection, options),
    reconciler: createReconciler(stores, connection, definitions, options),
    graceMs: settings.rollbackGrace,
  };
}

/**
 * Runs `use` with the services of the role `reconciliation`, then disconnects. `checks`: refuse a
 * Redis of another ranklog.
 * @throws ServiceUnreachableError, TopicsMissingError, OtherIdentityError
 */
export async function withReconciliation<T>(
  use: (session: ReconciliationSession) => Promise<T>,
  checks = true,
): Promise<T> {
  const session = await open();
  try {
    if (checks) await session.stores.store.check();
    return await use(session);
  } finally {
    await session.admin.disconnect();
    session.redis.disconnect();
  }
}

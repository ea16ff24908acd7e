import type { Redis } from 'ioredis';
import {
  BoardReader,
  BoardStore,
  GenerationCatalog,
  GenerationStore,
  KeySpace,
  LeaseStore,
  ShardCountError,
} from '#board-store';
import { redisFrom, waitForServices } from '../operations/clients.js';
import { requireTopics } from '../operations/topics.js';
import { reconcilerFrom } from '../reconciliation/reconciler-from.js';
import type { Reconciler } from '../reconciliation/reconciler.js';
import { withKafka, type KafkaSession } from './kafka-session.js';

/** What a command needs that looks at generations, or makes them. */
export interface ReconciliationSession extends KafkaSession {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly reader: BoardReader;
  readonly store: BoardStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly catalog: GenerationCatalog;
  readonly reconciler: Reconciler;
  readonly graceMs: number;
}

/**
 * Runs `use` with all of it, and closes it.
 * @throws ServiceUnreachableError, TopicsMissingError, ShardCountError
 */
export function withReconciliation<T>(
  use: (session: ReconciliationSession) => Promise<T>,
): Promise<T> {
  return withKafka(async (session) => {
    const { settings, logger, admin, topics } = session;
    const redis = redisFrom(settings, logger);
    try {
      await waitForServices(settings, { redis }, logger);
      await requireTopics(admin, topics);
      return await use(await compose(session, redis));
    } finally {
      redis.disconnect();
    }
  });
}

async function compose(session: KafkaSession, redis: Redis): Promise<ReconciliationSession> {
  const { settings } = session;
  const keys = new KeySpace(settings.redisPrefix);
  await checkShards(redis, keys, settings.shards);
  const { kafka, admin, logger } = session;
  return {
    ...session,
    redis,
    keys,
    reader: new BoardReader(redis, keys),
    store: new BoardStore(redis, keys, settings),
    leases: new LeaseStore(redis, keys, settings),
    generations: new GenerationStore(redis, keys, settings),
    catalog: new GenerationCatalog(redis, keys, settings),
    reconciler: reconcilerFrom(settings, { kafka, admin, redis }, { logger }),
    graceMs: settings.rollbackGrace,
  };
}

/** Commands that only look write nothing, so they fix no number of shards. @throws ShardCountError */
async function checkShards(redis: Redis, keys: KeySpace, shards: number): Promise<void> {
  const stored = await redis.get(keys.shards());
  if (stored !== null && Number(stored) !== shards)
    throw new ShardCountError(shards, Number(stored));
}

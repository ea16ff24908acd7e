import type { Redis } from 'ioredis';
import { BoardReader } from '#board-store';
import { redisFrom, waitForServices } from '../infra/clients.js';
import { requireTopics } from '../infra/topics.js';
import { identityOf, partsOf, type Parts } from '../parts.js';
import { Reconciler } from '../maintenance/reconciler.js';
import { withKafka, type KafkaSession } from './kafka-session.js';

/** What a command needs that looks at generations, or makes them. */
export interface ReconciliationSession extends Parts {
  readonly reader: BoardReader;
  readonly reconciler: Reconciler;
  readonly graceMs: number;
}

/**
 * Runs `use` with a session, then closes it. Unless `checks` is false, Redis has to belong to this ranklog.
 * @throws ServiceUnreachableError, TopicsMissingError, OtherIdentityError
 */
export function withReconciliation<T>(
  use: (session: ReconciliationSession) => Promise<T>,
  checks = true,
): Promise<T> {
  return withKafka(async (session) => {
    const { settings, logger, admin, topics } = session;
    const redis = redisFrom(settings, logger);
    try {
      await waitForServices(settings, { redis }, logger);
      await requireTopics(admin, topics);
      const composed = await compose(session, redis);
      if (checks) await composed.store.check();
      return await use(composed);
    } finally {
      redis.disconnect();
    }
  });
}

async function compose(session: KafkaSession, redis: Redis): Promise<ReconciliationSession> {
  const { settings, admin, topics } = session;
  const identity = await identityOf(settings, admin);
  const parts = partsOf(session, { ...session, redis, identity });
  const graceMs = settings.rollbackGrace;
  return {
    ...parts,
    reader: new BoardReader(redis, parts.keys),
    reconciler: new Reconciler({ ...parts, topic: topics.scoreEvents, graceMs }),
    graceMs,
  };
}

import { BoardStore, KeySpace, OtherIdentityError, type Identity } from '#board-store';
import { topicNames } from '#contracts';
import { partitionCount } from '#kafka-batch';
import { ResultLog } from '../../ingest/result-log.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';

/** `ranklog topics --adopt`: moves Redis and the topics to the settings of this process. */
export function adopt(): Promise<void> {
  return withReconciliation(async (session) => {
    const { store, definitions, registrar } = session;
    for (const check of [() => store.check(), () => definitions.readAll()])
      await check().catch(async (error: unknown) => {
        if (!(error instanceof OtherIdentityError) || !error.isMovable) throw error;
        await move(session, error.kept);
        process.stderr.write(`ranklog: moved to these settings: ${error.differences.join(', ')}\n`);
      });
    await registrar.claim();
  }, false);
}

/**
 * Claims Redis first, so processes with the old settings apply nothing more. Then fences their publishers, so the published
 * position is final. Claims the topic last, so no process starts before that.
 */
async function move(
  { settings, redis, identity, store, definitions, kafka, admin }: ReconciliationSession,
  kept: Partial<Identity>,
): Promise<void> {
  const { redisPrefix, group, topicPrefix, shards } = { ...settings, ...kept };
  await store.claim({ moves: true });
  const before = new KeySpace(redisPrefix);
  if (redisPrefix !== settings.redisPrefix && (await redis.exists(before.shards())) === 1)
    await new BoardStore(redis, before, { shards, identity }).claim({ moves: true });
  const resultLog = new ResultLog(kafka, admin, { topicPrefix, group });
  const partitions = await partitionCount(kafka, topicNames(topicPrefix).scoreEvents);
  for (let partition = 0; partition < partitions; partition++)
    await (await resultLog.openPublisher(partition)).close();
  await definitions.claim({ moves: true });
}

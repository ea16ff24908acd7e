import { BoardStore, KeySpace, OtherIdentityError, type Identity } from '#board-store';
import { topicNames } from '#contracts';
import { partitionCount } from '#kafka-batch';
import { ResultLog } from '../../ingest/result-log.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';

/** `ranklog topics --adopt`: Redis and the topics belong to the ranklog with these settings from now on. */
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
 * Redis first: from then on others apply nothing. Then their publishers are fenced: what they have in flight is in Kafka, or
 * never will be, and who starts next finds where to go on. The topic comes last: until then nobody starts.
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

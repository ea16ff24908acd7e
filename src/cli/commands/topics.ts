import { OtherIdentityError, type Identity } from '#board-store';
import { topicNames } from '#contracts';
import { partitionCount } from '#kafka-batch';
import type { Settings } from '../../config/settings.js';
import { claimIdentity } from '../../infra/identity.js';
import { Stores } from '../../infra/stores.js';
import { createTopics, ScoreTopicError } from '../../infra/topics.js';
import { ResultLog } from '../../ingest/result-log.js';
import { openKafka } from '../sessions/kafka-session.js';
import {
  openUncheckedReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

type TopicsOptions = JsonOption & { readonly adopt?: boolean } & Partial<
    Pick<Settings, 'partitions' | 'allowShortHistory'>
  >;

export async function topics(options: TopicsOptions): Promise<number> {
  await using kafka = await openKafka();
  const { admin, settings, topics: names } = kafka;
  try {
    const reports = await createTopics(admin, names, { ...settings, ...options });
    if (options.adopt === true) await adopt();
    const rows = reports.map(({ topic, partitions, state }) => [topic, partitions, state]);
    print(reports, options, () => table(['topic', 'partitions', 'state'], rows));
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ScoreTopicError) throw new CommandError(error.message, EXIT.no);
    throw error;
  }
}

/** `ranklog topics --adopt`: moves Redis and the topics to the settings of this process. */
async function adopt(): Promise<void> {
  await using session = await openUncheckedReconciliation();
  const { definitions } = session;
  const { store } = session.stores;
  for (const check of [() => store.check(), () => definitions.readAll()])
    await check().catch(async (error: unknown) => {
      if (!(error instanceof OtherIdentityError) || !error.isMovable) throw error;
      await move(session, error.kept);
      process.stderr.write(`ranklog: settings moved; before: ${error.differences.join(', ')}\n`);
    });
  await claimIdentity(store, definitions);
}

/**
 * Stores the new identity in Redis first, so that processes with the old settings stop applying.
 * Then fences their publishers, so the published positions are final. The definitions topic comes
 * last: its old identity keeps new processes from starting.
 */
async function move(
  { settings, redis, identity, stores, definitions, kafka, admin }: ReconciliationSession,
  kept: Partial<Identity>,
): Promise<void> {
  const { redisPrefix, group, topicPrefix, shards } = { ...settings, ...identity.ours, ...kept };
  await stores.store.claim({ moves: true });

  const before = new Stores(redis, { redisPrefix, shards }, { identity });
  if (redisPrefix !== settings.redisPrefix && (await redis.exists(before.keys.shards())) === 1)
    await before.store.claim({ moves: true });

  const topics = topicNames(topicPrefix);
  const resultLog = new ResultLog({ kafka, admin, topics }, { group }, stores.store);
  const partitions = await partitionCount(kafka, topics.scoreEvents);
  for (let partition = 0; partition < partitions; partition++) {
    const publisher = await resultLog.openPublisher(partition); // fences the old one
    await publisher.close();
  }

  await definitions.claim({ moves: true });
}

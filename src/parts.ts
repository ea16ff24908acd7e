import type { Redis } from 'ioredis';
import type { Admin, Kafka } from 'kafkajs';
import {
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  GenerationStore,
  IdentityCheck,
  KeySpace,
  LeaseStore,
} from '#board-store';
import { topicNames, type TopicNames } from '#contracts';
import type { Logger } from './infra/logger.js';
import type { Settings } from './config/settings.js';
import { BoardRegistrar } from './registry/board-registrar.js';
import { DefinitionsTopic } from './registry/definitions-topic.js';
import { startsOfUnreadLog } from './generations/log-history.js';

/** Connections of a process. */
export interface Connections {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly redis: Redis;
  readonly identity: IdentityCheck;
}

/** What the roles of a process share. */
export interface Parts extends Connections {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly topics: TopicNames;
  readonly keys: KeySpace;
  readonly store: BoardStore;
  readonly continuity: ContinuityStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly catalog: GenerationCatalog;
  readonly definitions: DefinitionsTopic;
  readonly registrar: BoardRegistrar;
}

/** The identity of a process: its settings, and the id that the cluster reports. */
export async function identityOf(settings: Settings, admin: Admin): Promise<IdentityCheck> {
  const { topicPrefix, group, redisPrefix, shards } = settings;
  const { clusterId: cluster } = await admin.describeCluster();
  return new IdentityCheck({ cluster, topicPrefix, group, redisPrefix, shards });
}

export function partsOf(
  { settings, logger }: Pick<Parts, 'settings' | 'logger'>,
  connections: Connections,
): Parts {
  const { kafka, admin, redis, identity } = connections;
  const topics = topicNames(settings.topicPrefix);
  const keys = new KeySpace(settings.redisPrefix);
  const store = new BoardStore(redis, keys, { shards: settings.shards, identity });
  const continuity = new ContinuityStore(redis, keys, settings);
  const definitions = new DefinitionsTopic(kafka, admin, topics.definitions, {
    log: logger,
    identity,
  });
  const registrar = new BoardRegistrar(
    {
      ...{ store, continuity, definitions, log: logger },
      unreadLog: () => startsOfUnreadLog(admin, topics.scoreEvents, settings.group),
    },
    settings.boards,
  );
  return {
    ...connections,
    ...{ settings, logger, topics, keys, store, continuity, definitions, registrar },
    leases: new LeaseStore(redis, keys, settings),
    generations: new GenerationStore(redis, keys, settings),
    catalog: new GenerationCatalog(redis, keys, settings),
  };
}

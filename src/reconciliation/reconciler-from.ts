import { BoardStore, GenerationStore, KeySpace, LeaseStore, WatermarkStore } from '#board-store';
import { topicNames } from '#contracts';
import type { Settings } from '../operations/settings.js';
import type { Connections } from '../parts.js';
import { DefinitionsTopic } from './definitions-topic.js';
import type { Log } from './log.js';
import { Reconciler } from './reconciler.js';

/** A reconciler of the settings, over connections that are there. `eventsPerSecond` bounds runs that say nothing else. */
export function reconcilerFrom(
  settings: Settings,
  { kafka, admin, redis, identity }: Connections,
  { logger, eventsPerSecond }: { readonly logger: Log; readonly eventsPerSecond?: number },
): Reconciler {
  const keys = new KeySpace(settings.redisPrefix);
  const topics = topicNames(settings.topicPrefix);
  return new Reconciler({
    kafka,
    admin,
    topic: topics.scoreEvents,
    store: new BoardStore(redis, keys, { shards: settings.shards, identity }),
    leases: new LeaseStore(redis, keys, settings),
    generations: new GenerationStore(redis, keys, settings),
    watermarks: new WatermarkStore(redis, keys, settings),
    definitions: new DefinitionsTopic(kafka, admin, topics.definitions, { log: logger, identity }),
    graceMs: settings.rollbackGrace,
    eventsPerSecond,
    logger,
  });
}

import { GenerationStore, LeaseStore } from '#board-store';
import type { Parts } from '../parts.js';
import { Reconciler } from './reconciler.js';

/** `eventsPerSecond` limits the runs that set no rate of their own. */
export function reconcilerFrom(parts: Parts, eventsPerSecond?: number): Reconciler {
  const { settings, redis, keys, topics } = parts;
  return new Reconciler({
    ...parts,
    topic: topics.scoreEvents,
    leases: new LeaseStore(redis, keys, settings),
    generations: new GenerationStore(redis, keys, settings),
    graceMs: settings.rollbackGrace,
    eventsPerSecond,
  });
}

import { decodeLeaderChange, topicNames, type LeaderChange } from '#contracts';
import { ResultSubscriber, type SubscriberOptions } from './result-subscriber.js';

/**
 * Hands over leader changes as they are committed: each once. See ResultSubscriber. Those of a view come from several
 * partitions, so a newer one may come first, which LeadersByView tells; and one member of a larger group sees only a part of them.
 */
export class LeaderChangeSubscriber extends ResultSubscriber<LeaderChange> {
  constructor(options: SubscriberOptions) {
    super(options, topicNames(options.topicPrefix).leaderChanges, decodeLeaderChange);
  }
}

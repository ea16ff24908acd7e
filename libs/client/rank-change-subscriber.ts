import { decodeRankChange, topicNames, type RankChange } from '#contracts';
import { ResultSubscriber, type SubscriberOptions } from './result-subscriber.js';

/** Hands over rank changes as they are committed: each once, a player's in order. See ResultSubscriber. */
export class RankChangeSubscriber extends ResultSubscriber<RankChange> {
  constructor(options: SubscriberOptions) {
    super(options, topicNames(options.topicPrefix).rankChanges, decodeRankChange);
  }
}

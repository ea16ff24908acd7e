/** The topics of one ranklog. Results of partition p of the score topic are in partition p of the result topics. */
export type TopicNames = Readonly<
  Record<'scoreEvents' | 'rankChanges' | 'leaderChanges' | 'definitions' | 'deadLetters', string>
>;

/** The topic names under a prefix. */
export function topicNames(prefix = 'ranklog'): TopicNames {
  return {
    scoreEvents: `${prefix}.score-events`,
    rankChanges: `${prefix}.rank-changes`,
    leaderChanges: `${prefix}.leader-changes`,
    definitions: `${prefix}.definitions`,
    deadLetters: `${prefix}.dead-letters`,
  };
}

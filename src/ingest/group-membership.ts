import { createHash } from 'node:crypto';
import type { IdentityCheck } from '#board-store';
import { parseObject, topicNames } from '#contracts';
import { membersText, ROUND_ROBIN, type GroupFacts } from '#kafka-batch';
import { GroupTakenError, PreviousVersionError } from './ingest-errors.js';

const PROTOCOL = 'ranklog-';

/**
 * How ingest joins its consumer group. The protocol has a hash of the identity, so Kafka admits
 * only members of the same ranklog. Their user data is the identity, so that a refused process can
 * say how the identities differ.
 */
export function membershipOf(identity: IdentityCheck) {
  const hash = createHash('sha256').update(identity.text).digest('hex');
  return {
    protocol: `${PROTOCOL}${hash.slice(0, 16)}`,
    userData: identity.text,
    refusal: (group: GroupFacts) => joinRefusal(group, identity),
  };
}

/**
 * The error for a group whose members are not of this ranklog, or of a version that can't share a
 * group with this one.
 */
function joinRefusal(group: GroupFacts, identity: IdentityCheck): Error {
  const { groupId, protocol, members } = group;
  const who = membersText(group);
  if (protocol.startsWith(PROTOCOL)) {
    const theirs = parseObject(members[0]?.userData ?? '') ?? {}; // a stranger may send any text
    const differences = identity.differences(theirs).join(', ');
    return new GroupTakenError(groupId, `another ranklog: ${differences} (${who})`);
  }

  const { topicPrefix = '' } = identity.ours;
  const topicsRead = new Set(members.flatMap(({ topics }) => topics));
  const readScores = topicsRead.size === 1 && topicsRead.has(topicNames(topicPrefix).scoreEvents);
  if (protocol === ROUND_ROBIN && readScores) return new PreviousVersionError(groupId, who);

  const text =
    'other consumers, such as a subscriber, or a ranklog of an earlier version with other ' +
    `topics: ${who}`;
  return new GroupTakenError(groupId, text);
}

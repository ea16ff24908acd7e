import kafkajs, {
  type Assigner,
  type GroupMemberAssignment,
  type PartitionAssigner,
} from 'kafkajs';
import { murmur2 } from '../produce/partitioner.js';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

/** The data with which a member joins its group. */
export interface Membership {
  /** Kafka admits a member only if all others have the same protocol. */
  readonly protocol: string;
  /** A text about the member, for clients that describe the group. */
  readonly userData: string;
}

/**
 * Assigns partitions so that few of them move when a member joins or leaves: kafkajs's round robin
 * moves almost all. Members get only partitions of topics to which they are subscribed.
 */
export function rendezvousAssigner({ protocol, userData }: Membership): PartitionAssigner {
  return ({ cluster }): Assigner => ({
    name: protocol,
    version: 0,
    protocol: ({ topics }) => {
      const metadata = { version: 0, topics, userData: Buffer.from(userData) };
      return { name: protocol, metadata: MemberMetadata.encode(metadata) };
    },
    assign: (group) => Promise.resolve(assignTopics(cluster, group)),
  });
}

type Cluster = Parameters<PartitionAssigner>[0]['cluster'];
type Group = Parameters<Assigner['assign']>[0];

function assignTopics(cluster: Cluster, { members, topics }: Group): GroupMemberAssignment[] {
  const assignments = members.map(({ memberId, memberMetadata }) => {
    const subscribed = MemberMetadata.decode(memberMetadata)?.topics ?? [];
    const assignment: Record<string, number[]> = {}; // partitions by topic
    return { memberId, subscribed, assignment };
  });

  for (const topic of topics) {
    const metadata = cluster.findTopicPartitionMetadata(topic);
    const partitions = metadata.map(({ partitionId }) => partitionId);
    const readers = assignments.filter(({ subscribed }) => subscribed.includes(topic));
    const readerIds = readers.map(({ memberId }) => memberId);
    const assigned = assignPartitions(readerIds, partitions);
    for (const { memberId, assignment } of readers)
      assignment[topic] = partitions.filter((partition) => assigned.get(partition) === memberId);
  }

  return assignments.map(({ memberId, assignment }) => {
    const memberAssignment = { version: 0, assignment, userData: Buffer.alloc(0) };
    return { memberId, memberAssignment: MemberAssignment.encode(memberAssignment) };
  });
}

/**
 * The member of each partition, by rendezvous hashing: each pair of a member and a partition has a
 * weight of its own, and the heaviest pairs are taken first. No member gets two partitions more
 * than another one.
 * Cost: sorts members x partitions pairs.
 */
export function assignPartitions(
  members: readonly string[],
  partitions: readonly number[],
): Map<number, string> {
  const assigned = new Map<number, string>();
  if (members.length === 0) return assigned;
  const fewest = Math.floor(partitions.length / members.length);
  let membersWithMore = partitions.length % members.length;
  const loads = new Map<string, number>();
  for (const { member, partition } of heaviestFirst(members, partitions)) {
    const load = loads.get(member) ?? 0;
    const isFull = load > fewest || (load === fewest && membersWithMore === 0);
    if (isFull || assigned.has(partition)) continue;
    if (load === fewest) membersWithMore -= 1;
    loads.set(member, load + 1);
    assigned.set(partition, member);
  }
  return assigned;
}

function heaviestFirst(members: readonly string[], partitions: readonly number[]) {
  const pairs = members.flatMap((member) =>
    partitions.map((partition) => {
      return { member, partition, weight: murmur2(Buffer.from(`${member} ${partition}`)) };
    }),
  );
  return pairs.sort(
    (a, b) => b.weight - a.weight || a.partition - b.partition || (a.member < b.member ? -1 : 1),
  );
}

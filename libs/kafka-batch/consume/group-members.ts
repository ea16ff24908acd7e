import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
import type { KafkaBatchLogger } from '../kafkajs/kafka-logger.js';
import type { GroupFacts } from '../kafkajs/types.js';

const { MemberMetadata } = kafkajs.AssignerProtocol;

/** The protocol of consumers of kafkajs that have no assigner of their own. */
export const ROUND_ROBIN = 'RoundRobinAssigner';

/** The members of a consumer group. During a rebalance, their protocol and topics are unknown. */
export async function groupFacts(admin: Admin, groupId: string): Promise<GroupFacts> {
  const { groups } = await admin.describeGroups([groupId]);
  const { protocol = '', protocolType, members = [] } = groups[0] ?? {};
  const described = members.map(({ memberId, clientHost, memberMetadata }) => {
    const isConsumer = protocolType === 'consumer' && memberMetadata.length > 0;
    const metadata = isConsumer ? MemberMetadata.decode(memberMetadata) : null;
    const userData = metadata?.userData as Buffer | null | undefined; // null for some clients
    const topics = metadata?.topics ?? [];
    return { memberId, host: clientHost, topics, userData: userData?.toString() ?? '' };
  });
  return { groupId, protocol, members: described };
}

export interface OthersWait {
  readonly groupId: string;
  readonly protocol: string;
  /** The error for the members of another protocol. */
  readonly refusal: (group: GroupFacts) => Error;
  /** By performance.now(). */
  readonly deadline: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  readonly logger: KafkaBatchLogger;
}

const POLL_MS = 500;

/**
 * Waits while the group has members of another protocol: a killed one stays until its session ends.
 * Logs the refusal meanwhile. If the members can't be read, or a rebalance is under way, Kafka
 * decides when this member joins.
 * @throws the refusal after the deadline, and the reason of the signal
 */
export async function untilOthersLeave(admin: Admin, wait: OthersWait): Promise<void> {
  const { groupId, protocol, refusal, deadline, signal, logger } = wait;
  let logged = '';
  for (;;) {
    signal.throwIfAborted();
    const group = await groupFacts(admin, groupId).catch(() => undefined);
    if (group === undefined || group.protocol === '' || group.protocol === protocol) return;

    const error = refusal(group);
    if (performance.now() >= deadline) throw error;
    if (error.message !== logged) logger.warn(`waiting to join the group: ${error.message}`);
    logged = error.message;
    await delay(POLL_MS, undefined, { signal });
  }
}

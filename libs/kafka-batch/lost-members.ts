import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import errors from 'kafkajs/src/protocol/error.js';

/** Kafka's code of UNKNOWN_MEMBER_ID, which makes kafkajs join the group. */
const UNKNOWN_MEMBER_ID = 25;

/**
 * When the group has forgotten a member, kafkajs forgets its id and joins anew. When that fails (the broker is lost, too),
 * it goes on to fetch without an id: it neither sends a heartbeat nor joins ever again, and looks alive. Here its next
 * heartbeat makes it join.
 */
export function rejoinLostMembers(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the group below
  const { heartbeat } = ConsumerGroup.prototype;
  ConsumerGroup.prototype.heartbeat = async function (options) {
    if (this.memberId === null) throw errors.createErrorFromCode(UNKNOWN_MEMBER_ID);
    await heartbeat.call(this, options);
  };
}

import kafkajs, { type Consumer } from 'kafkajs';

const { AssignerProtocol } = kafkajs;

/** This process as a member of its consumer group. */
export class GroupMembership {
  #memberId: string | undefined;

  constructor(
    private readonly consumer: Consumer,
    private readonly topic: string,
  ) {}

  /** Returns whether the member id is unchanged: then the group has not removed this member in between. */
  joined(memberId: string): boolean {
    const isSame = memberId === this.#memberId;
    this.#memberId = memberId;
    return isSame;
  }

  /** Whether the coordinator says that the group is stable and the partition assigned to this member. */
  async owns(partition: number): Promise<boolean> {
    const { state, members } = await this.consumer.describeGroup();
    const member = members.find(({ memberId }) => memberId === this.#memberId);
    if (state !== 'Stable' || member === undefined) return false;
    const decoded = AssignerProtocol.MemberAssignment.decode(member.memberAssignment);
    return decoded?.assignment[this.topic]?.includes(partition) ?? false;
  }
}

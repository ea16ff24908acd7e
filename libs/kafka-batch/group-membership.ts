import kafkajs, { type Consumer } from 'kafkajs';

const { AssignerProtocol } = kafkajs;

/** What the group's coordinator says of this member. */
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

  /** Whether the group is stable and the partition is assigned to this member. One request. */
  async owns(partition: number): Promise<boolean> {
    const { state, members } = await this.consumer.describeGroup();
    const member = members.find(({ memberId }) => memberId === this.#memberId);
    if (state !== 'Stable' || member === undefined) return false;
    const assignment = AssignerProtocol.MemberAssignment.decode(
      member.memberAssignment,
    )?.assignment;
    return assignment?.[this.topic]?.includes(partition) ?? false;
  }
}
